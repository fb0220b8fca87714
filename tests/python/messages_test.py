"""Arguments of host functions that nothing can be made of: each message names what would do."""

import numpy as np
import pytest

import enceladus
import enceladus.language as tl


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: enceladus.zeros_like([1]), TypeError, r"zeros_like takes an array, not \[1\] of"),
        (
            lambda: enceladus.empty_like(3),
            TypeError,
            "empty_like takes an array, not 3 of type int",
        ),
        (lambda: enceladus.new_empty([1]), TypeError, r"new_empty takes an array, not \[1\] of"),
        (lambda: enceladus.new_zeros(None), TypeError, "new_zeros takes an array, not None"),
        (lambda: enceladus.element_dtype([1]), TypeError, "element_dtype takes an array"),
        (lambda: enceladus.element_strides([1]), TypeError, "of type list shows no strides"),
        (lambda: enceladus.full((2,), "a"), TypeError, "full takes numbers, not 'a'"),
        (lambda: enceladus.full((2,), None), TypeError, "full takes numbers, not None"),
        (lambda: enceladus.full((2,), [1, 2]), TypeError, r"full takes numbers, not \[1, 2\]"),
        (lambda: enceladus.full((2.5,), 1), TypeError, "a shape is an int or a tuple of ints"),
        (lambda: enceladus.arange(1, 10, 0), ValueError, r"the step of enceladus.arange\(1, 10, 0"),
        (lambda: enceladus.arange("a"), TypeError, "arange takes numbers, not 'a'"),
        (lambda: enceladus.zeros(3, dtype="float31"), TypeError, "no dtype of a tensor; there are"),
        (lambda: enceladus.zeros(-1), ValueError, "negative"),
        (
            lambda: enceladus.zeros(2**50),
            MemoryError,
            r"cpu has no memory .* 4503599627370496 bytes",
        ),
        (lambda: enceladus.arange(6)[np.array([1, 2])], TypeError, "indexed by integers, slices"),
        (lambda: enceladus.arange(6)[[1, 2]], TypeError, r"use `t.numpy\(\)\[...\]`"),
        (lambda: set_one[(2**31 - 1,) * 3](enceladus.zeros(1)), ValueError, r"2\*\*63 programs"),
        (lambda: enceladus.from_dlpack([1]), TypeError, "list has no __dlpack__"),
        (lambda: enceladus.from_numpy([1]), TypeError, "from_numpy"),
    ],
)
def test_a_host_function_says_what_is_wrong(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_numbers_of_every_library_fill_a_tensor():
    assert enceladus.full((2,), np.float64(2.5)).tolist() == [2.5, 2.5]
    assert enceladus.full((2,), np.array(3)).tolist() == [3, 3]
    assert enceladus.full(2, True).tolist() == [True, True]
    assert str(enceladus.full(2, np.float16(1)).dtype) == str(tl.float16)


def test_none_adds_an_axis_to_a_tensor():
    x = enceladus.arange(6)
    assert x[None].shape == (1, 6) and x[None].tolist() == [[0, 1, 2, 3, 4, 5]]
    assert x[:, None].shape == (6, 1)
    assert x.reshape(2, 3)[None, 1, ..., None].tolist() == [[[3], [4], [5]]]


def test_a_sparse_torch_tensor_is_refused_by_name():
    torch = pytest.importorskip("torch")
    sparse = torch.eye(3).to_sparse()

    @enceladus.jit
    def copy(x_ptr, out_ptr):
        tl.store(out_ptr, tl.load(x_ptr))

    with pytest.raises(TypeError, match=r"argument `x_ptr` of `copy` .*sparse.*to_dense"):
        copy[(1,)](sparse, torch.zeros(1))


@enceladus.jit
def set_one(x_ptr):
    tl.store(x_ptr, 1.0)


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        ("FLUSH_EVERY", "x", ValueError, "ENCELADUS_FLUSH_EVERY='x': .*launches in one submission"),
        ("FLUSH_EVERY", "0", ValueError, "ENCELADUS_FLUSH_EVERY='0': at least 1 is needed"),
        ("OVERRIDE_DIR", "/no/such/folder", OSError, "OVERRIDE_DIR='/no/such/folder': there is no"),
    ],
)
def test_a_wrong_variable_is_named_where_a_kernel_is_compiled(
    name, text, error, message, monkeypatch, tmp_path
):
    monkeypatch.setenv("ENCELADUS_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv(f"ENCELADUS_{name}", text)
    kernel = enceladus.jit(set_one.fn)
    x = enceladus.zeros(1)
    with pytest.raises(error, match=message):
        kernel[(1,)](x)
    monkeypatch.delenv(f"ENCELADUS_{name}")
    kernel[(1,)](x)
    assert x.item() == 1.0
