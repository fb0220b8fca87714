"""What may stand in the parentheses and brackets of a launch, and what is said otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import enceladus
import enceladus.language as tl
from recording import Compiling, RecordingKernel, request


def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 16):
    pass


def make(function: Any = add, **options: Any) -> RecordingKernel:
    return RecordingKernel(function, **options)


@pytest.fixture
def x() -> Any:
    return np.zeros(8, np.float32)


def test_arguments_bind_by_position_keyword_and_default(x: Any) -> None:
    kernel = make()
    by_position = request(kernel, x, x, 5, 16)
    by_keyword = request(kernel, n=5, y_ptr=x, x_ptr=x)
    assert by_position.specs == by_keyword.specs
    assert by_position.key == by_keyword.key
    assert [spec[0] for spec in by_position.specs] == ["x_ptr", "y_ptr", "n", "BLOCK"]
    assert by_position.specs[0] == ("x_ptr", "pointer", "float32", x.ctypes.data % 16 == 0)
    assert by_position.specs[2] == ("n", "scalar", "int32", False, False)
    assert by_position.specs[3] == ("BLOCK", "constexpr", 16)


@pytest.mark.parametrize(
    ("args", "options", "sentence"),
    [
        ((1,), {}, r"add\(\) missing 2 required arguments: 'y_ptr' and 'n'"),
        ((1, 2), {}, r"add\(\) missing 1 required argument: 'n'"),
        (
            (1, 2, 3, 4, 5),
            {},
            r"add\(\) takes 4 positional arguments but 5 were given",
        ),
        ((1, 2, 3), {"n": 3}, r"add\(\) got multiple values for argument 'n'"),
        (
            (1, 2, 3),
            {"num_warp": 4},
            r"unexpected keyword argument 'num_warp'. Did you mean 'num_warps'\?",
        ),
        (
            (1, 2, 3),
            {"BLOCKS": 4},
            r"unexpected keyword argument 'BLOCKS'. Did you mean 'BLOCK'\?",
        ),
        ((1, 2, 3), {"zzz": 4}, r"unexpected keyword argument 'zzz'\.$"),
    ],
)
def test_wrong_arguments_are_type_errors(args: Any, options: Any, sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        make()[(1,)](*args, **options)


def test_a_missing_constexpr_is_called_one(x: Any) -> None:
    def scale(x_ptr, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
        pass

    with pytest.raises(TypeError, match="missing 2 required constexpr arguments: 'BLOCK' and"):
        make(scale)[(1,)](x)


def test_keyword_only_parameters_take_no_position(x: Any) -> None:
    def scale(x_ptr, *, BLOCK: tl.constexpr):
        pass

    assert request(make(scale), x, BLOCK=4).specs[1] == ("BLOCK", "constexpr", 4)
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        make(scale)[(1,)](x, 4)


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"num_warps": 3}, ValueError, "num_warps=3 for `add`: it is a power of two from 1 to 32"),
        ({"num_warps": 64}, ValueError, "num_warps=64"),
        ({"num_warps": 2**70}, ValueError, "num_warps=1180591620717411303424"),
        ({"num_warps": 4.0}, TypeError, "num_warps=4.0"),
        ({"num_warps": True}, TypeError, "num_warps=True"),
        ({"dot_warps": 4}, TypeError, "dot_warps=4"),
        ({"dot_warps": (4, 2)}, ValueError, r"is 8 warps, but num_warps is 4"),
        ({"dot_warps": (3, 1)}, ValueError, r"dot_warps=\(3, 1\)"),
        ({"dot_backend": "simd"}, ValueError, "Did you mean 'simdgroup'"),
        ({"dot_backend": 3}, TypeError, "dot_backend=3"),
        ({"num_stages": 0}, ValueError, "num_stages=0"),
        ({"num_stages": "2"}, TypeError, "num_stages='2'"),
        ({"stream": 7}, TypeError, "stream=7"),
    ],
)
def test_launch_options_are_validated(options: Any, error: Any, sentence: str, x: Any) -> None:
    with pytest.raises(error, match=sentence):
        make()[(1,)](x, x, 1, **options)


def test_launch_options_reach_the_compiler_and_the_key(x: Any) -> None:
    kernel = make()
    plain = request(kernel, x, x, 1)
    assert plain.options["num_warps"] == 4
    assert plain.options["dot_warps"] is None
    assert plain.options["dot_backend"] == "auto"
    assert plain.options["num_stages"] is None
    same = request(
        kernel, x, x, 1, num_warps=np.int64(4), dot_warps=None, num_stages=None, stream=None
    )
    assert same.key == plain.key
    other = request(kernel, x, x, 1, num_warps=8, dot_warps=(4, 2), dot_backend="mpp", num_stages=3)
    assert other.key != plain.key
    assert other.options["num_warps"] == 8
    assert other.options["dot_warps"] == (4, 2)
    assert other.options["dot_backend"] == "mpp"
    assert other.options["num_stages"] == 3


@pytest.mark.parametrize(
    ("grid", "error", "sentence"),
    [
        ((1, -3), ValueError, r"grid\[1\] of `add` is -3; an extent is 0 or more"),
        (-1, ValueError, "grid of `add` is -1"),
        ((2.0,), TypeError, r"grid\[0\] of `add` is 2.0 of type float.*enceladus.cdiv"),
        (2.5, TypeError, "grid of `add` is 2.5 of type float"),
        ((), ValueError, r"grid of `add` is \(\) with 0 extents; it has 1 to 3"),
        ((1, 1, 1, 1), ValueError, "with 4 extents"),
        ("8", TypeError, "grid of `add` is '8' of type str"),
        ((True,), TypeError, "of type bool"),
        ((2**40,), ValueError, r"grid\[0\] of `add` is 1099511627776, more than the \d+ that cpu"),
        ((2**70,), ValueError, r"is 2\*\*63 or more, more than"),
        (None, TypeError, "grid of `add` is None"),
        (np.array([1, 1]), TypeError, r"grid of `add` is array\(\[1, 1\]\) of type ndarray"),
        ((np.array([1, 1]),), TypeError, r"grid\[0\] of `add` is array"),
        (lambda meta: 1.5, TypeError, "the grid function's result of `add` is 1.5"),
        (lambda meta: {}, TypeError, "the grid function's result of `add` is {}"),
    ],
)
def test_a_wrong_grid_is_named(grid: Any, error: Any, sentence: str, x: Any) -> None:
    with pytest.raises(error, match=sentence):
        make()[grid](x, x, 1)


@pytest.mark.parametrize("grid", [3, (3,), [3], (3, 2), (np.int32(3), 1, 2), np.int64(3)])
def test_every_form_of_grid_is_taken(grid: Any, x: Any) -> None:
    assert request(make(), x, x, 1, grid=grid)


def test_a_grid_function_sees_every_argument_by_name(x: Any) -> None:
    seen: dict[str, Any] = {}

    def grid(meta: dict[str, Any]) -> tuple[int]:
        seen.update(meta)
        return (enceladus.cdiv(meta["n"], meta["BLOCK"]),)

    request(make(), x, x, 100, grid=grid)
    assert list(seen) == ["x_ptr", "y_ptr", "n", "BLOCK"]
    assert seen["x_ptr"] is x
    assert (seen["n"], seen["BLOCK"]) == (100, 16)


def test_an_error_in_the_grid_function_is_the_users_own(x: Any) -> None:
    with pytest.raises(KeyError, match="SIZE"):
        make()[lambda meta: meta["SIZE"]](x, x, 1)


@pytest.mark.parametrize("grid", [0, (0,), (4, 0), lambda meta: (1, 1, 0)])
def test_a_zero_extent_launches_nothing(grid: Any, x: Any) -> None:
    assert make()[grid](x, x, 1) is None


@pytest.mark.parametrize(
    ("value", "dtype", "divisible", "one"),
    [
        (7, "int32", False, False),
        (1, "int32", False, True),
        (32, "int32", True, False),
        (0, "int32", True, False),
        (-16, "int32", True, False),
        (-(2**31), "int32", True, False),
        (2**31 - 1, "int32", False, False),
        (2**31, "int64", True, False),
        (-(2**31) - 1, "int64", False, False),
        (2**63 - 1, "int64", False, False),
        (2**63, "uint64", True, False),
        (2**64 - 1, "uint64", False, False),
        (1.5, "float32", False, False),
        (True, "int1", False, False),
        (np.float64(1.5), "float64", False, False),
        (np.float16(1.5), "float16", False, False),
        (np.int8(-16), "int8", True, False),
        (np.uint16(1), "uint16", False, True),
        (np.int64(3), "int64", False, False),
        (np.bool_(True), "int1", False, False),
    ],
)
def test_numbers_have_the_type_of_the_contract(
    value: Any, dtype: str, divisible: bool, one: bool, x: Any
) -> None:
    assert request(make(), x, x, value).specs[2] == ("n", "scalar", dtype, divisible, one)


def test_integers_past_uint64_are_refused(x: Any) -> None:
    for value in (2**64, -(2**63) - 1):
        with pytest.raises(OverflowError, match=rf"`n` of `add` is {value}, which neither"):
            make()[(1,)](x, x, value)


def test_none_for_an_array_is_a_constexpr_none(x: Any) -> None:
    assert request(make(), x, None, 1).specs[1] == ("y_ptr", "constexpr", None)


def test_torch_and_tensor_arguments_are_pointers(x: Any) -> None:
    tensor = enceladus.from_numpy(x)
    specs = request(make(), tensor, tensor, 1).specs
    assert specs[0][:3] == ("x_ptr", "pointer", "float32")
    specs = request(make(), torch.zeros(4, dtype=torch.bfloat16), torch.zeros(4), 1).specs
    assert [spec[2] for spec in specs[:2]] == ["bfloat16", "float32"]


@pytest.mark.parametrize(
    ("value", "error", "sentence"),
    [
        ([1, 2], TypeError, r"`y_ptr` of `add` is \[1, 2\] of type list; pass a NumPy array"),
        ("text", TypeError, "`y_ptr` of `add` is 'text' of type str.*tl.constexpr"),
        ({}, TypeError, "`y_ptr` of `add` is {} of type dict"),
        (tl.float32, TypeError, "`y_ptr` of `add` is"),
        (np.zeros(4)[::-1], ValueError, "`y_ptr` of `add` has a negative stride"),
        (np.zeros(4, np.complex64), TypeError, "`y_ptr` of `add` .*complex64"),
        (np.array(["a"]), TypeError, "`y_ptr` of `add`"),
        (torch.eye(3).to_sparse(), TypeError, "`y_ptr` of `add` is .*sparse_coo.*to_dense"),
    ],
)
def test_what_is_no_argument_is_named(value: Any, error: Any, sentence: str, x: Any) -> None:
    with pytest.raises(error, match=sentence):
        make()[(1,)](x, value, 1)


def test_a_launch_that_would_wait_can_be_forbidden(x: Any) -> None:
    from enceladus._core import forbid_waiting

    kernel = make()
    tensor = enceladus.from_numpy(x)
    before = forbid_waiting(True)
    try:
        assert before is False
        with pytest.raises(Compiling):
            kernel[(1,)](tensor, tensor, 1)
    finally:
        assert forbid_waiting(before) is True


def test_bind_arguments_gives_arguments_and_options(x: Any) -> None:
    arguments, options = make().bind_arguments(x, None, n=3, num_warps=8)
    assert arguments == {"x_ptr": x, "y_ptr": None, "n": 3, "BLOCK": 16}
    assert options == {
        "num_warps": 8,
        "dot_warps": None,
        "dot_backend": "auto",
        "num_stages": None,
    }


def test_too_many_parameters_are_refused() -> None:
    names = ", ".join(f"a{i}" for i in range(129))
    text = f"def wide({names}):\n    pass\n"
    import linecache

    linecache.cache["<wide>"] = (len(text), None, text.splitlines(keepends=True), "<wide>")
    scope: dict[str, Any] = {}
    exec(compile(text, "<wide>", "exec"), scope)  # noqa: S102
    with pytest.raises(ValueError, match="`wide` has 129 parameters; a kernel has at most 128"):
        enceladus.jit(scope["wide"])
