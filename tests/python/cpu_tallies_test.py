"""Atomic additions that the CPU's threads count for themselves (src/codegen/cpu/tallies.h)."""

import os
import subprocess
import sys

import numpy as np
import pytest

import enceladus
import enceladus.language as tl

pytestmark = pytest.mark.skipif(
    "cpu" not in [device.name for device in enceladus.devices()], reason="no CPU target"
)

HELD = 65536  # int32 elements that one tally stands for at most
ENOUGH = 1 << 21  # values of a launch that uses them all


@enceladus.jit
def count_kernel(x_ptr, counts_ptr, n, low, high, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=-(1 << 30))
    tl.atomic_add(counts_ptr + x, 1, mask=(x >= low) & (x < high))


@enceladus.jit
def several_kernel(x_ptr, low_ptr, high_ptr, sums_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(low_ptr + x % 16, 1)
    tl.atomic_add(low_ptr + 15 - x % 16, 2, mask=x > 100)
    tl.atomic_add(high_ptr + x // 16, x.to(tl.int64) << 40)
    tl.atomic_add(sums_ptr + x % 4, x.to(tl.float32))


@enceladus.jit
def watched_kernel(x_ptr, counts_ptr, seen_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.atomic_add(counts_ptr + x, 1)
    tl.store(seen_ptr, tl.load(counts_ptr))


@enceladus.jit
def early_kernel(x_ptr, counts_ptr, last, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    if program >= last:
        return
    x = tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(counts_ptr + x, 1)


def values(low, high, count):
    return np.random.default_rng(3).integers(low, high, count, dtype=np.int32)


def count(x, counts, low, high, base=0, block=1024):
    with enceladus.device("cpu"):
        arguments = x, counts[base:], len(x), low, high
        count_kernel[(enceladus.cdiv(len(x), block),)](*arguments, BLOCK=block)
        enceladus.synchronize()


@pytest.mark.parametrize("size", [1000, 100_003, ENOUGH + 1])
@pytest.mark.parametrize("bins", [1, 7, 256, 4096, HELD - 1, HELD, HELD + 1, 3 * HELD + 5])
def test_counts_are_those_of_numpy(bins, size):
    x = values(0, bins, size)
    counts = np.zeros(bins, np.int32)
    for times in (1, 2, 3):  # the scratch is used again
        count(x, counts, 0, bins)
        np.testing.assert_array_equal(counts, times * np.bincount(x, minlength=bins))


def test_one_program_and_blocks_of_one_element():
    x = values(0, 9, 1 << 15)
    for block, n in ((1 << 15, 1 << 15), (1, 20_000)):
        counts = np.zeros(9, np.int32)
        count(x[:n], counts, 0, 9, block=block)
        np.testing.assert_array_equal(counts, np.bincount(x[:n], minlength=9))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_negative_and_far_offsets_are_masked_off_or_taken(dtype):
    x = values(-500, 3000, 300_000)
    base = 400
    counts = np.full(base + 2000, 5, dtype)
    count(x, counts, -base, 2000, base)
    taken = x[(x >= -base) & (x < 2000)] + base
    np.testing.assert_array_equal(counts, 5 + np.bincount(taken, minlength=base + 2000))


def test_int32_counts_wrap_around():
    x = values(0, 3, 100_000)
    counts = np.full(3, 2**31 - 1, np.int32)
    count(x, counts, 0, 3)
    expected = (np.bincount(x) + 2**31 - 1).astype(np.uint32).astype(np.int32)
    np.testing.assert_array_equal(counts, expected)


def test_several_atomics_on_one_and_on_different_arrays():
    x = values(0, 1 << 12, 256 * 1024)
    low, high = np.zeros(16, np.int32), np.zeros(256, np.int64)
    sums = np.zeros(4, np.float32)
    with enceladus.device("cpu"):
        several_kernel[(256,)](x, low, high, sums, BLOCK=1024)
        enceladus.synchronize()
    expected = np.bincount(x % 16) + 2 * np.bincount(15 - x[x > 100] % 16)
    np.testing.assert_array_equal(low, expected)
    weights = np.zeros(256, np.int64)
    np.add.at(weights, x // 16, x.astype(np.int64) << 40)
    np.testing.assert_array_equal(high, weights)
    # 2^16 additions of float32 to about 2^27 each: each rounds by at most 8.
    exact = np.bincount(x % 4, weights=x)
    np.testing.assert_allclose(sums, exact, atol=8 * (1 << 16))


def test_a_kernel_that_loads_the_counts_sees_them():
    x = np.zeros(1 << 14, np.int32)
    counts, seen = np.zeros(4, np.int32), np.zeros(1, np.int32)
    with enceladus.device("cpu"):
        watched_kernel[(1,)](x, counts, seen, BLOCK=1 << 14)
        enceladus.synchronize()
    assert counts[0] == seen[0] == 1 << 14


def test_programs_that_return_early_count_nothing():
    x = values(0, 50, 64 * 1024)
    counts = np.zeros(50, np.int32)
    with enceladus.device("cpu"):
        early_kernel[(64,)](x, counts, 40, BLOCK=1024)
        enceladus.synchronize()
    np.testing.assert_array_equal(counts, np.bincount(x[: 40 * 1024], minlength=50))


def test_counts_that_are_the_values_too():
    x = np.zeros(1 << 14, np.int32)
    with enceladus.device("cpu"):
        count_kernel[(1,)](x, x, len(x), 0, 1, BLOCK=1 << 14)
        enceladus.synchronize()
    assert x[0] >= 1
    assert not x[1:].any()


@pytest.mark.skipif("ENCELADUS_NUM_THREADS" in os.environ, reason="is that run")
@pytest.mark.parametrize("threads", ["1", "4"])
def test_with_other_numbers_of_threads(threads):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    environment = {**os.environ, "ENCELADUS_NUM_THREADS": threads}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
