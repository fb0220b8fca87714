"""rand, randn and manual_seed."""

import numpy as np
import pytest

import enceladus
from enceladus import _core
from enceladus.random import _fill_on_device


def test_a_seed_gives_the_same_numbers_again():
    enceladus.manual_seed(11)
    first = [enceladus.randn(5).tolist(), enceladus.rand((2, 3)).tolist()]
    enceladus.manual_seed(11)
    assert [enceladus.randn(5).tolist(), enceladus.rand(2, 3).tolist()] == first
    enceladus.manual_seed(12)
    assert enceladus.randn(5).tolist() != first[0]


def test_numbers_do_not_depend_on_how_much_is_asked_for_at_once():
    enceladus.manual_seed(3)
    whole = enceladus.randn(40000).numpy().copy()
    enceladus.manual_seed(3)
    parts = [enceladus.randn(8).numpy() for _ in range(100)]
    np.testing.assert_array_equal(whole[:800], np.concatenate(parts))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_uniform_numbers_stay_below_one_in_every_type(dtype):
    enceladus.manual_seed(0)
    numbers = enceladus.rand(100000, dtype=dtype).numpy().astype(np.float64)
    assert numbers.min() >= 0 and numbers.max() < 1
    assert abs(numbers.mean() - 0.5) < 0.01


def test_numbers_are_pinned():
    enceladus.manual_seed(1234)
    expected = [float.fromhex(text) for text in PINNED]
    assert enceladus.randn(4).tolist() == expected


# As in the C++ test: the published Philox numbers, transformed by Python's math module.
PINNED = ["-0x1.1875f0p-2", "-0x1.018ef6p+1", "-0x1.8cc3e6p-1", "-0x1.6e97ecp+0"]


def test_wrong_arguments_are_errors():
    with pytest.raises(TypeError, match="are floats"):
        enceladus.rand(3, dtype="int32")
    with pytest.raises(ValueError):
        enceladus.randn(-1)
    assert enceladus.randn(0).tolist() == []
    enceladus.manual_seed(-1)


@pytest.mark.parametrize("normal", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_kernel_for_devices_of_their_own_gives_the_same_bits(dtype, normal):
    """Run here on the CPU, whose programs compute in the same order."""
    seed, offset, size = (
        0x123456789ABCDEF0,
        0xFFFFFFF0,
        5001,
    )  # the offset carries into its upper word
    expected, found = (enceladus.empty(size, dtype, "cpu") for _ in range(2))
    _core.queue_random_fill(expected, normal, seed, offset)
    with enceladus.device("cpu"):
        _fill_on_device(found, normal, seed, offset)
    np.testing.assert_array_equal(found.numpy().view(np.uint8), expected.numpy().view(np.uint8))
