"""Which launches share compiled code: the bytes of the specialization key."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from recording import RecordingKernel, request


def kernel_function(x_ptr, y_ptr, n, K: tl.constexpr = 0):
    pass


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Number(enum.IntEnum):
    ONE = 1


@dataclass(frozen=True)
class Shape:
    rows: int


@enceladus.jit
def helper(a):
    return a


@enceladus.jit
def other_helper(a):
    return a


@pytest.fixture
def kernel() -> RecordingKernel:
    return RecordingKernel(kernel_function)


@pytest.fixture
def x() -> Any:
    return enceladus.zeros(64, dtype="float32")


DIFFERENT = [
    None,
    True,
    False,
    0,
    1,
    2**40,
    2**70,
    -(2**70),
    0.0,
    -0.0,
    1.0,
    math.nan,
    math.inf,
    "",
    "a",
    "1",
    (),
    (1,),
    (1, 2),
    ((1,), 2),
    (1, (2,)),
    (1.0,),
    (-0.0,),
    (True,),
    tl.float32,
    tl.float16,
    "float32",
    Colour.RED,
    Colour.BLUE,
    Number.ONE,
    Shape(1),
    Shape(2),
    helper,
    other_helper,
]


def test_different_constexprs_have_different_keys(kernel: RecordingKernel, x: Any) -> None:
    keys = [request(kernel, x, x, 2, K=value).key for value in DIFFERENT]
    assert len(set(keys)) == len(DIFFERENT)


def test_equal_constexprs_share_a_key(kernel: RecordingKernel, x: Any) -> None:
    pairs = [
        (np.int64(5), 5),
        (np.bool_(True), True),
        (np.float64(0.5), 0.5),
        (tl.constexpr(7), 7),
        ((np.int32(1), 2), (1, 2)),
        ("ab" * 300, "".join(["ab"] * 300)),
        (Shape(3), Shape(3)),
        (float("nan"), float("nan")),
    ]
    for one, other in pairs:
        first, second = request(kernel, x, x, 2, K=one), request(kernel, x, x, 2, K=other)
        assert first.key == second.key, (one, other)
        assert type(first.specs[3][2]) is type(second.specs[3][2])


def test_signed_zero_and_types_reach_the_compiler(kernel: RecordingKernel, x: Any) -> None:
    assert math.copysign(1, request(kernel, x, x, 2, K=-0.0).specs[3][2]) == -1
    assert request(kernel, x, x, 2, K=True).specs[3][2] is True


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([1], r"constexpr argument `K` of `kernel_function` is \[1\] of type list.*hashed"),
        ({}, "cannot be hashed"),
        (object(), "whose repr does not name its value"),
        (np.zeros(3), "is an array .ndarray"),
        (enceladus.zeros(3), "is an array .Tensor"),
    ],
)
def test_what_names_no_value_is_refused(
    value: Any, sentence: str, kernel: RecordingKernel, x: Any
) -> None:
    with pytest.raises(TypeError, match=sentence):
        kernel[(1,)](x, x, 2, K=value)


def test_facts_of_integers_and_addresses_are_in_the_key(kernel: RecordingKernel, x: Any) -> None:
    plain = request(kernel, x, x, 3)
    assert request(kernel, x, x, 5).key == plain.key
    assert request(kernel, x, x, 16).key != plain.key
    assert request(kernel, x, x, 1).key != plain.key
    assert request(kernel, x, x, 3.0).key != plain.key
    assert request(kernel, x, x[1:], 3).specs[1] == ("y_ptr", "pointer", "float32", False)
    assert request(kernel, x, x[4:], 3).specs[1] == ("y_ptr", "pointer", "float32", True)


def test_do_not_specialize_leaves_facts_out(x: Any) -> None:
    kernel = RecordingKernel(kernel_function, do_not_specialize=["n", "y_ptr"])
    z = enceladus.zeros(64, dtype="float32")
    assert len({request(kernel, x, z, n).key for n in (0, 1, 3, 16)}) == 1
    assert request(kernel, x, z[1:], 3).key == request(kernel, x, z, 3).key
    assert request(kernel, x, z, 2**40).key != request(kernel, x, z, 3).key


def test_do_not_specialize_on_alignment_keeps_equal_to_1(x: Any) -> None:
    kernel = RecordingKernel(kernel_function, do_not_specialize_on_alignment=["n"])
    assert request(kernel, x, x, 16).key == request(kernel, x, x, 3).key
    assert request(kernel, x, x, 1).key != request(kernel, x, x, 3).key


def test_arrays_that_share_bytes_are_not_disjoint(kernel: RecordingKernel, x: Any) -> None:
    apart = request(kernel, x[:32], x[32:], 3)
    assert apart.options["arrays_disjoint"] is True
    together = request(kernel, x[:33], x[32:], 3)
    assert together.options["arrays_disjoint"] is False
    assert apart.key != together.key
    array = np.zeros(10, np.float32)
    assert request(kernel, array, array, 3).options["arrays_disjoint"] is False
    assert request(kernel, array[:0], array, 3).options["arrays_disjoint"] is True


def test_debug_is_part_of_the_key(
    kernel: RecordingKernel, x: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ENCELADUS_DEBUG", raising=False)
    plain = request(kernel, x, x, 3)
    assert plain.options["debug"] is False
    for text in ("0", "", "off", "FALSE"):
        monkeypatch.setenv("ENCELADUS_DEBUG", text)
        assert request(kernel, x, x, 3).key == plain.key
    monkeypatch.setenv("ENCELADUS_DEBUG", "1")
    debugging = request(kernel, x, x, 3)
    assert debugging.options["debug"] is True
    assert debugging.key != plain.key
    never = RecordingKernel(kernel_function, debug=False)
    assert request(never, x, x, 3).options["debug"] is False


def test_stand_ins_give_the_key_of_real_arrays(x: Any) -> None:
    from recording import Compiling

    kernel = RecordingKernel(kernel_function)
    y = enceladus.zeros(64, dtype="float16")
    real = request(kernel, x, y, 3)
    for stand_in in (enceladus.MockTensor("float16"), tl.float16, np.dtype("float16"), np.float16):
        with pytest.raises(Compiling) as compiling:
            kernel.warmup(x, stand_in, 3)
        assert compiling.value.key == real.key
    with pytest.raises(Compiling) as compiling:
        kernel.warmup(x, enceladus.MockTensor(np.float16, (4,), aligned=False), 3)
    assert compiling.value.specs[1] == ("y_ptr", "pointer", "float16", False)
    with pytest.raises(TypeError, match="stands for an array of complex64"):
        kernel.warmup(x, enceladus.MockTensor("complex64"), 3)
    with pytest.raises(TypeError, match="`y_ptr` of `kernel_function` is MockTensor"):
        kernel[(1,)](x, enceladus.MockTensor("float16"), 3)
