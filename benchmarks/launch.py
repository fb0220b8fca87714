"""Host time of launches: what the calling thread spends, and round trips to the result."""

import ctypes
import statistics
import time

import numba
import numpy as np
import torch

import enceladus
import enceladus.language as tl
from benchmarks.harness import Report

BATCH = 50  # launches between two waits, fewer than a submission holds
METAL_BATCH = 1500  # launches, by 64 to a command buffer, that the device is behind with
METAL_BUFFER = 200  # microseconds that a command buffer takes, longer than to write the next one


@enceladus.jit
def empty_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pass


@enceladus.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = tl.load(y_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x + y, mask=offsets < n)


@numba.njit
def numba_add(x, y, out):
    for i in range(x.size):
        out[i] = x[i] + y[i]


def host_time(call, wait, batches):
    """Median microseconds that the calling thread spends in one call, waiting left out."""
    times = []
    for _ in range(batches):
        start = time.perf_counter_ns()
        for _ in range(BATCH):
            call()
        times.append((time.perf_counter_ns() - start) * 1e-3 / BATCH)
        wait()
    return statistics.median(times), min(times)


def metal_host_time(batches):
    """Rows for launches on the Metal runtime, over the stand-in for Apple's framework.

    Kernels are checked and forgotten, but a command buffer takes a millisecond: launches onto
    a busy device gather in one, as they do on a GPU (one that were always idle would get each
    alone). A launch is counted whole, and less what the calling thread spends inside the stand-in,
    whose cost is not Metal's.
    """
    from enceladus.testing._simulator import library

    simulator = library()
    inside = simulator.call
    with enceladus.device("metal-sim"):
        tensors = [enceladus.zeros(64) for _ in range(3)]
        launch = add_kernel[(1,)]
        launch(*tensors, 64, BLOCK=64)
        enceladus.synchronize()
        inside("set_records", ctypes.c_int32(0))
        inside("set_delay", ctypes.c_int64(METAL_BUFFER))
        whole, own = [], []
        for _ in range(batches // 10):
            start, before = time.perf_counter_ns(), inside("nanoseconds_inside")
            for _ in range(METAL_BATCH):
                launch(*tensors, 64, BLOCK=64)
            within = inside("nanoseconds_inside") - before
            nanoseconds = time.perf_counter_ns() - start
            whole.append(nanoseconds * 1e-3 / METAL_BATCH)
            own.append((nanoseconds - within) * 1e-3 / METAL_BATCH)
            end = time.perf_counter() + 1.2e-6 * METAL_BUFFER * (METAL_BATCH / 64 + 1)
            while time.perf_counter() < end:
                pass
            enceladus.synchronize()
        inside("set_delay", ctypes.c_int64(0))
        inside("set_records", ctypes.c_int32(1))
    return [
        _row("enceladus, add, Tensors, with the stand-in", (statistics.median(whole), min(whole))),
        _row("enceladus, add, Tensors, its own", (statistics.median(own), min(own))),
    ]


def round_trip(call, wait, count):
    """Median microseconds of one call with its wait."""
    times = []
    for _ in range(count):
        start = time.perf_counter_ns()
        call()
        wait()
        times.append((time.perf_counter_ns() - start) * 1e-3)
    return statistics.median(times), min(times)


def run(quick=False):
    report = Report("launch", quick)
    size, batches = 64, 20 if quick else 400
    arrays = [np.random.default_rng(i).standard_normal(size, np.float32) for i in range(3)]
    tensors = [enceladus.from_numpy(array) for array in arrays]
    torches = [torch.from_numpy(array) for array in arrays]
    empty, add = empty_kernel[(1,)], add_kernel[(1,)]
    autotuned = enceladus.autotune([enceladus.Config({"BLOCK": 64})], ["n"])(add_kernel)
    tuned = autotuned[lambda meta: (1,)]
    wait = enceladus.synchronize

    def nothing():
        pass

    host = {
        "enceladus, empty kernel, Tensors": (lambda: empty(*tensors, size, BLOCK=64), wait),
        "enceladus, grid given anew": (lambda: empty_kernel[(1,)](*tensors, size, BLOCK=64), wait),
        "enceladus, add, Tensors": (lambda: add(*tensors, size, BLOCK=64), wait),
        "enceladus, add, autotuned": (lambda: tuned(*tensors, size), wait),
    }
    trips = {
        "enceladus, add, Tensors and synchronize": (lambda: add(*tensors, size, BLOCK=64), wait),
        "enceladus, add, NumPy": (lambda: add(*arrays, size, BLOCK=64), nothing),
        "enceladus, add, PyTorch": (lambda: add(*torches, size, BLOCK=64), nothing),
        "torch.add(out=)": (lambda: torch.add(torches[0], torches[1], out=torches[2]), nothing),
        "numpy.add(out=)": (lambda: np.add(arrays[0], arrays[1], out=arrays[2]), nothing),
        "numba": (lambda: numba_add(*arrays), nothing),
    }
    for calls in (host, trips):
        for call, finish in calls.values():
            call()
            finish()
    rows = [_row(name, host_time(call, finish, batches)) for name, (call, finish) in host.items()]
    report.table("Host time of an asynchronous launch, three tensors and an int", rows)
    if "metal-sim" in enceladus.devices():
        report.table(
            "Host time of an asynchronous Metal launch, stand-in for the framework",
            metal_host_time(batches),
        )
    rows = [
        _row(name, round_trip(call, finish, batches * 5)) for name, (call, finish) in trips.items()
    ]
    report.table(f"From the call to the result, {size} elements", rows)
    report.write()


def _row(name, times):
    return {"contender": name, "us": times[0], "fastest us": times[1]}
