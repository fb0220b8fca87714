"""enceladus.Tensor: creation, views, and the way to and from NumPy."""

import math
import operator

import ml_dtypes
import numpy as np
import pytest

import enceladus
import enceladus.language as tl

NAMES = [
    *"int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split(),
    *"float16 bfloat16 float32 float64".split(),
]


@pytest.mark.parametrize("name", NAMES)
def test_every_dtype_makes_a_round_trip(name):
    tensor = enceladus.arange(2, dtype=name)
    assert tensor.dtype == name and isinstance(tensor.dtype, tl.dtype)
    again = enceladus.from_numpy(tensor.numpy())
    assert again.dtype == name and again.tolist() == [0, 1]
    assert tensor.nbytes == 2 * tensor.numpy().dtype.itemsize


@pytest.mark.parametrize("dtype", ["float16", np.float16, np.dtype("float16"), tl.float16])
def test_dtypes_are_taken_in_every_spelling(dtype):
    assert enceladus.empty((2, 3), dtype=dtype).dtype == tl.float16


def test_fields_describe_the_memory():
    tensor = enceladus.zeros((2, 3, 4), dtype="int16")
    assert tensor.shape == (2, 3, 4) and tensor.strides == (12, 4, 1)
    assert (tensor.size, tensor.nbytes, tensor.ndim, len(tensor)) == (24, 48, 3, 2)
    assert str(tensor.device) == "cpu" and tensor.device == "cpu"


KEYS = [
    np.s_[1],
    np.s_[-1],
    np.s_[1:, ::2],
    np.s_[..., 3],
    np.s_[:, None, 1],
    np.s_[0, ..., 1:3],
    np.s_[::-1, :, 3:0:-2],
    np.s_[5:],
    np.s_[1, 2, 3],
    np.s_[...],
    np.s_[None, ..., None],
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_basic_indexing_is_numpys(key):
    array = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    tensor = enceladus.from_numpy(array)
    expected = array[key]
    np.testing.assert_array_equal(tensor[key].numpy(), expected)
    assert tensor[key].shape == np.shape(expected)


def test_views_share_memory_and_assignment_writes_through():
    array = np.zeros((4, 4), np.float32)
    tensor = enceladus.from_numpy(array)
    tensor[1:3, ::2] = 5
    tensor[0] = [1, 2, 3, 4]
    tensor.T[0, 3] = 7
    assert array.tolist() == [[1, 2, 3, 4], [5, 0, 5, 0], [5, 0, 5, 0], [7, 0, 0, 0]]


@pytest.mark.parametrize(
    "key, error",
    [(2, IndexError), ((0, 0, 0), IndexError), ((..., ...), IndexError), ([0], TypeError),
     (True, TypeError), (1.5, TypeError)],
)  # fmt: skip
def test_indices_that_no_view_can_have_are_errors(key, error):
    with pytest.raises(error):
        enceladus.zeros((2, 2))[key]


def test_reshape_views_where_strides_allow_and_copies_elsewhere():
    tensor = enceladus.arange(24)
    view = tensor.reshape(4, -1)
    assert view.shape == (4, 6) and view.data_ptr() == tensor.data_ptr()
    assert tensor.view((2, 12)).data_ptr() == tensor.data_ptr()
    transposed = view.T
    assert transposed.reshape(24).tolist() == view.numpy().T.reshape(24).tolist()
    assert transposed.reshape(3, 2, 4).data_ptr() == tensor.data_ptr()  # splits an axis
    with pytest.raises(ValueError, match="use reshape"):
        transposed.view(24)
    for shape in [(5, 5), (-1, -1), (7, -1), (0, -1)]:
        with pytest.raises(ValueError):
            tensor.reshape(shape)
    assert enceladus.empty((0, 3)).reshape(3, 0).shape == (3, 0)


def test_from_numpy_shares_memory_and_keeps_the_array_alive():
    array = np.arange(8, dtype=np.float32)
    tensor = enceladus.from_numpy(array[::-2])
    array[7] = 70
    assert tensor.strides == (-2,) and tensor.tolist() == [70, 5, 3, 1]
    del array
    assert tensor.tolist() == [70, 5, 3, 1]


def test_read_only_arrays_give_read_only_tensors():
    array = np.zeros(3, np.float32)
    array.flags.writeable = False
    tensor = enceladus.from_numpy(array)
    assert not tensor.writable and not tensor.numpy().flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        tensor.fill_(1)
    assert tensor.clone().fill_(1).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "array",
    [np.zeros(2, "complex64"), np.zeros(2, ">f4"), np.zeros(2, object), np.zeros(2, "M8[s]"), [1]],
)
def test_from_numpy_refuses_what_kernels_do_not_have(array):
    with pytest.raises(TypeError):
        enceladus.from_numpy(array)


def test_numpy_functions_take_tensors():
    tensor = enceladus.arange(4, dtype="float32")
    assert np.sum(tensor) == 6
    assert np.asarray(tensor, dtype=np.float64).dtype == np.float64
    copied = np.array(tensor, copy=True)
    copied[0] = 9
    assert tensor.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="without a copy"):
        tensor.__array__(np.float64, copy=False)


def test_scalars_become_python_numbers():
    one = enceladus.full((1, 1), 2.5)
    assert (one.item(), float(one), int(one), bool(one)) == (2.5, 2.5, 2, True)
    assert operator.index(enceladus.full((), 3)) == 3
    with pytest.raises(ValueError, match="exactly one"):
        bool(enceladus.zeros(2))
    with pytest.raises(TypeError):
        len(enceladus.full((), 3))


def test_conversion_and_copies():
    tensor = enceladus.from_numpy(np.array([1.5, -2.25, math.inf], np.float32))
    assert tensor.to("float32") is tensor
    assert tensor.to(tl.bfloat16).numpy().dtype == ml_dtypes.bfloat16
    assert tensor.to("float16").tolist() == [1.5, -2.25, math.inf]
    target = enceladus.zeros((2, 3))
    assert target.copy_(tensor) is target and target[1].tolist() == tensor.tolist()
    clone = tensor[::2].clone()
    assert clone.is_contiguous() and clone.tolist() == [1.5, math.inf]


def test_creation_functions():
    assert enceladus.ones(3, dtype="int8").tolist() == [1, 1, 1]
    assert enceladus.full((2,), True).dtype == tl.int1
    assert enceladus.full((2,), 1).dtype == tl.int32
    assert enceladus.full((2,), 1 << 40).dtype == tl.int64
    assert enceladus.arange(1, 7, 2).tolist() == [1, 3, 5]
    assert enceladus.arange(0, 1, 0.25).tolist() == [0, 0.25, 0.5, 0.75]
    like = enceladus.zeros_like(np.ones((2, 5), np.uint8))
    assert like.shape == (2, 5) and like.dtype == tl.uint8 and not like.numpy().any()
    assert enceladus.empty_like(like, dtype="float16").dtype == tl.float16
    assert enceladus.zeros((3, 0)).tolist() == [[], [], []]


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: enceladus.empty(-1), ValueError),
        (lambda: enceladus.empty("3"), TypeError),
        (lambda: enceladus.empty((2.5,)), TypeError),
        (lambda: enceladus.empty(2, dtype="float33"), TypeError),
        (lambda: enceladus.empty(2, dtype=np.complex64), TypeError),
        (lambda: enceladus.empty((1,) * 17), ValueError),
        (lambda: enceladus.empty((1 << 40, 1 << 40)), ValueError),
        (lambda: enceladus.empty(1 << 61), (MemoryError, ValueError)),
        (lambda: enceladus.empty(2, device="cuda:0"), ValueError),
    ],
)
def test_wrong_creation_arguments_are_errors(call, error):
    with pytest.raises(error):
        call()


def test_extents_past_two_to_the_31():
    tensor = enceladus.empty((1 << 32) + 3, dtype="int8")  # touches few pages
    tensor[-1] = 5
    assert tensor[(1 << 32) + 2].item() == 5 and tensor.nbytes == (1 << 32) + 3
    assert tensor[1 << 31 :: 1 << 31].shape == (2,)


def test_large_memory_is_zeroed_and_on_huge_page_boundaries():
    tensor = enceladus.zeros(3 << 20)
    assert tensor.data_ptr() % (2 << 20) == 0 and not tensor.numpy().any()
    assert enceladus.zeros(3).data_ptr() % 64 == 0


def test_repr_shows_values_type_and_place():
    assert repr(enceladus.arange(3)) == "Tensor([0, 1, 2], dtype=int32, device=cpu)"


def test_iteration_gives_rows():
    assert [row.tolist() for row in enceladus.arange(4).reshape(2, 2)] == [[0, 1], [2, 3]]
