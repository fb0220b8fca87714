"""What the machine is, and what it can do at best: copies and multiply-adds, both measured."""

import ctypes
import datetime
import functools
import importlib.metadata
import os
import platform
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np


@functools.cache
def describe_machine():
    """Names, versions and load, for the head of every result."""
    return {
        "processor": _processor(),
        "threads": os.cpu_count(),
        "vectors": _vectors(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: _version(name) for name in ("numpy", "torch", "numba")},
        "commit": _commit(),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="minutes"),
        "load average": os.getloadavg()[0],
    }


def _cpuinfo(field):
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ""
    match = re.search(rf"^{field}\s*:\s*(.*)$", text, re.MULTILINE)
    return match[1] if match else ""


def _processor():
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def _vectors():
    flags = _cpuinfo("flags").split()
    wanted = ("avx2", "fma", "avx512f", "avx512_bf16", "avx512_vnni", "avx_vnni", "amx_bf16")
    return " ".join(flag for flag in wanted if flag in flags) or "unknown"


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit():
    git = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(git, capture_output=True, text=True).stdout.strip() or None
    except OSError:
        return None


@functools.cache
def copy_bandwidth():
    """GB/s of the best copy known here: bytes read plus bytes written, large arrays.

    One `memcpy` a thread, which writes past the caches.
    """
    size = 1 << 26
    threads = os.cpu_count() or 1
    parts = [(np.ones(size, np.uint8), np.empty(size, np.uint8)) for _ in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        seconds = []
        for _ in range(9):
            start = time.perf_counter()
            list(pool.map(lambda part: np.copyto(part[1], part[0]), parts))
            seconds.append(time.perf_counter() - start)
    return 2 * size * threads / min(seconds) * 1e-9


PEAK_SOURCE = """
typedef float vector __attribute__((vector_size(VECTOR_BYTES)));
extern "C" float multiply_add(long rounds, float start) {
  vector sums[ACCUMULATORS];
  for (auto& sum : sums) sum = vector{} + start;
  vector factor = vector{} + 0.999f, addend = vector{} + 0.001f;
  for (long i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
    for (auto& sum : sums) sum = sum * factor + addend;
  }
  vector total = vector{};
  for (auto& sum : sums) total += sum;
  return total[0];
}
"""


@functools.cache
def multiply_add_rate():
    """GFLOP/s of float32 multiply-adds in registers on all threads; None without a C++ compiler."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return None
    wide = "avx512f" in _vectors()
    vector_bytes, accumulators = (64, 16) if wide else (32, 12)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "peak.cpp")
        source.write_text(PEAK_SOURCE)
        flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
        flags += [f"-DVECTOR_BYTES={vector_bytes}", f"-DACCUMULATORS={accumulators}"]
        if wide:
            flags.append("-mprefer-vector-width=512")
        library = Path(folder, "peak.so")
        subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
        function = ctypes.CDLL(str(library)).multiply_add
        function.restype = ctypes.c_float
        rounds = 2_000_000
        threads = os.cpu_count() or 1
        seconds = []
        with ThreadPoolExecutor(threads) as pool:
            for _ in range(9):
                start = time.perf_counter()
                calls = [
                    pool.submit(function, ctypes.c_long(rounds), ctypes.c_float(1.0))
                    for _ in range(threads)
                ]
                for call in calls:
                    call.result()
                seconds.append(time.perf_counter() - start)
    operations = 2 * (vector_bytes // 4) * accumulators * rounds * threads
    return operations / statistics.median(sorted(seconds)[:3]) * 1e-9
