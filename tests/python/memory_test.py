"""Launching and compiling hold on to nothing: resident memory stays flat over many of each."""

import gc
from pathlib import Path

import numpy as np
import pytest

import enceladus
import enceladus.language as tl

PAGE_BYTES = 4096
MEBIBYTE = 1 << 20


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="reads resident memory from /proc"
)


@enceladus.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + tl.load(y_ptr + offsets, mask=mask), mask=mask)


def growth(work, warm_up, count):
    """By how many bytes memory grows in `count` runs, once `warm_up` runs have been made."""
    for _ in range(warm_up):
        work()
    enceladus.synchronize()
    gc.collect()
    before = resident_bytes()
    for _ in range(count):
        work()
    enceladus.synchronize()
    gc.collect()
    return resident_bytes() - before


@needs_proc
def test_10000_launches_leave_memory_flat():
    x, y, out = (enceladus.zeros(4096) for _ in range(3))

    def launch():
        add_kernel[(4,)](x, y, out, 4096, BLOCK=1024)

    # A leak of 100 bytes a launch would show each time; the kernel's huge pages come 2 MiB at once,
    # in one of the rounds.
    assert min(growth(launch, warm_up=1000, count=10_000) for _ in range(2)) < MEBIBYTE


@needs_proc
def test_10000_launches_on_host_arrays_leave_memory_flat():
    x, y, out = (np.zeros(4096, np.float32) for _ in range(3))

    def launch():
        add_kernel[(4,)](x, y, out, 4096, BLOCK=1024)

    assert growth(launch, warm_up=1000, count=10_000) < MEBIBYTE


@needs_proc
def test_200_compilations_that_are_dropped_leave_memory_flat(monkeypatch):
    monkeypatch.setenv("ENCELADUS_ALWAYS_COMPILE", "1")
    out = enceladus.zeros(4096)

    def compile_and_drop():
        kernel = enceladus.jit(add_kernel.fn)
        kernel[(4,)](out, out, out, 4096, BLOCK=1024)
        enceladus.synchronize()

    # A kept module or its machine code is at least 20 KiB, 4 MiB in all.
    assert growth(compile_and_drop, warm_up=40, count=200) < 2 * MEBIBYTE
