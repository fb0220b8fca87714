"""Launch costs: host time of an asynchronous launch, tiny kernels on the device, a round trip."""

import ctypes
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import torch

import enceladus
from benchmarks.cuda import kernels
from benchmarks.cuda.peers import triton_kernels
from benchmarks.cuda.timing import events_ms

COUNT = 64


def host_us(call):
    """Median microseconds of the calling thread for one of 64 launches."""
    found = []
    for _ in range(60):
        torch.cuda.synchronize()
        start = time.perf_counter_ns()
        for _ in range(COUNT):
            call()
        found.append((time.perf_counter_ns() - start) * 1e-3 / COUNT)
    torch.cuda.synchronize()
    return statistics.median(found[10:])


def floor_us(compiled, arrays, n):
    """The same for the driver's own call from C++; None without a compiler."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        return None
    source = Path(__file__).with_name("launch_floor.cpp")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "floor.so")
        flags = ["-std=c++17", "-O2", "-shared", "-fPIC", "-ldl"]
        subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
        times = (ctypes.c_double * 60)()
        artifact = compiled.artifact
        error = ctypes.CDLL(str(library)).launch_floor(
            artifact.binary,
            artifact.entry.encode(),
            *(ctypes.c_uint64(array.data_ptr()) for array in arrays),
            n,
            32 * artifact.num_warps,
            COUNT,
            60,
            times,
        )
    if error:
        raise RuntimeError(f"the driver answered {error}")
    return statistics.median(list(times)[10:])


def device_us(call):
    """Microseconds a launch of a long burst, as the device sees it."""
    call()
    return statistics.median(
        events_ms(lambda: [call() for _ in range(2000)]) / 2000 * 1e3 for _ in range(5)
    )


def round_trip_us(call, wait):
    found = []
    for _ in range(300):
        start = time.perf_counter_ns()
        call()
        wait()
        found.append((time.perf_counter_ns() - start) * 1e-3)
    return statistics.median(found[50:])


def run():
    """Rows by contender: {"host us", "device us", "round trip us"}."""
    n = 1024
    x, y, out = (torch.randn(n, device="cuda") for _ in range(3))
    a, b, c = (enceladus.from_dlpack(t) for t in (x, y, out))
    ours = kernels.add_kernel[(1,)]
    contenders = {
        "enceladus, Tensor": lambda: ours(a, b, c, n, BLOCK=1024),
        "enceladus, torch tensors": lambda: ours(x, y, out, n, BLOCK=1024),
        "torch.add": lambda: torch.add(x, y, out=out),
    }
    module = triton_kernels()
    if module is not None:
        theirs = module.add_kernel[(1,)]
        contenders["triton"] = lambda: theirs(x, y, out, n, BLOCK=1024)
    compiled = kernels.add_kernel.warmup(a, b, c, n, BLOCK=1024)
    rows = {"cuLaunchKernel from C++": {"host us": floor_us(compiled, (x, y, out), n)}}
    for name, call in contenders.items():
        call()
        wait = enceladus.synchronize if "Tensor" in name else torch.cuda.synchronize
        rows[name] = {
            "host us": host_us(call),
            "device us": device_us(call),
            "round trip us": round_trip_us(call, wait),
        }
    return rows
