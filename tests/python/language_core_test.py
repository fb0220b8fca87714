"""dtypes and constexpr of `tl`."""

import pickle

import pytest

import enceladus.language as tl


def test_dtype_equals_its_name_and_nothing_else():
    assert tl.float32 == "float32"
    assert tl.float32 != tl.float16
    assert tl.int1.itemsize == 1
    assert tl.bfloat16.primitive_bitwidth == 16
    assert len({tl.int8, tl.uint8, tl.core.dtype("int8")}) == 2


def test_unknown_dtype_lists_the_known():
    with pytest.raises(ValueError, match="`float8` is no dtype; there are int1, int8"):
        tl.core.dtype("float8")


def test_pointer_type_knows_its_element():
    pointer = tl.pointer_type(tl.float16)
    assert pointer.is_ptr() and not pointer.is_int() and not pointer.is_floating()
    assert pointer.element_ty == tl.float16
    assert pointer == tl.pointer_type(tl.float16)
    assert pointer != tl.pointer_type(tl.float32)


@pytest.mark.parametrize("element", [tl.float16, tl.pointer_type(tl.int8)])
def test_types_survive_pickle(element):
    assert pickle.loads(pickle.dumps(element)) == element


def test_constexpr_computes_like_python():
    block = tl.constexpr(-7)
    assert block // 2 == -4
    assert (2 - block).value == 9
    assert tl.constexpr(block).value == -7
    assert -block == 7 and abs(block) == 7
    assert list(range(tl.constexpr(2))) == [0, 1]
    assert tl.constexpr((1, 2))[1] == 2
    assert bool(tl.constexpr(0)) is False
    assert tl.constexpr(tl.float32) == tl.float32
