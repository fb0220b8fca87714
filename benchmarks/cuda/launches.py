"""Launch costs: host time of an asynchronous launch, tiny kernels on the device, a round trip; and
what the driver itself can do from C++. All in a process of their own, as the caller's may hold the
memory and the threads of other workloads."""

import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

import enceladus
from benchmarks.cuda import kernels
from benchmarks.cuda.peers import triton_kernels

COUNT = 64
QUEUED = 512  # the driver takes about a thousand launches before it waits
GATE_CYCLES = 30_000_000  # longer than the slowest contender needs to queue as many

# In the order of launch_floor.cpp. The first is the floor of a launch path without batches.
WAYS = (
    "cuLaunchKernel from C++",
    "C++, starting before the predecessor's end",
    "C++, graph of 64 as it is",
    "C++, graph of 64, every node set",
    "C++, two graphs of 64 in turn, set",
    "C++, four graphs of 64 in turn, set",
    "C++, graph of 64 with early starts, set",
    "C++, eight graphs of 1 in turn, set",
)
EARLY = (1, 6)  # ways whose kernel waits for its predecessor itself


def burst(call):
    """A function that launches `COUNT` times and returns the microseconds of one launch."""

    def launch():
        start = time.perf_counter_ns()
        for _ in range(COUNT):
            call()
        return (time.perf_counter_ns() - start) * 1e-3 / COUNT

    return launch


def host_us(bursts):
    """Median microseconds of the calling thread for one launch, by name; the bursts take turns."""
    found = {name: [] for name in bursts}
    for _ in range(60):
        for name, launch in bursts.items():
            torch.cuda.synchronize()
            enceladus.synchronize("cuda:0")
            found[name].append(launch())
    torch.cuda.synchronize()
    return {name: statistics.median(times[10:]) for name, times in found.items()}


class Floor:
    """The driver's own times, from C++."""

    def __init__(self, folder, arrays, n):
        """Raises RuntimeError without a compiler."""
        compiler = shutil.which("c++") or shutil.which("g++")
        if compiler is None:
            raise RuntimeError("the floor of a launch needs a C++ compiler")
        library = Path(folder, "floor.so")
        source = Path(__file__).with_name("launch_floor.cpp")
        flags = ["-std=c++17", "-O2", "-shared", "-fPIC", "-ldl"]
        subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
        self._library = ctypes.CDLL(str(library))
        self._library.launch_burst.restype = ctypes.c_double
        self._folder, self._addresses, self._n = folder, [a.data_ptr() for a in arrays], n

    def _prepare(self, waits):
        artifact = compiled_add(self._folder, waits).artifact
        error = self._library.launch_prepare(
            artifact.binary,
            artifact.entry.encode(),
            *(ctypes.c_uint64(address) for address in self._addresses),
            self._n,
            32 * artifact.num_warps,
        )
        if error:
            raise RuntimeError(f"the driver answered {error}")

    def burst(self):
        """What `burst` gives, of the driver's own call."""
        self._prepare(waits=False)
        return lambda: self._library.launch_burst(COUNT)

    def rows(self):
        """Host and device microseconds by way."""
        found = {}
        for way, name in enumerate(WAYS):
            self._prepare(waits=way in EARLY)
            times = (ctypes.c_double * 2)()
            if error := self._library.launch_floor(COUNT, way, times):
                print(f"{name}: the driver answered {error}", file=sys.stderr)
                continue
            found[name] = {"host us": times[0], "device us": times[1]}
        return found


def compiled_add(folder, waits):
    """The add kernel compiled, with or without the instruction that waits for its predecessor."""
    example = [enceladus.empty(1024, device="cuda:0") for _ in range(3)]
    compiled = kernels.add_kernel.warmup(*example, 1024, BLOCK=1024)
    if waits:
        return compiled
    text = "".join(line for line in compiled.cuda.splitlines(True) if "griddepcontrol" not in line)
    Path(folder, "add_kernel.cu").write_text(text)
    os.environ["ENCELADUS_OVERRIDE_DIR"] = folder
    try:
        return enceladus.jit(kernels.add_kernel.fn).warmup(*example, 1024, BLOCK=1024)
    finally:
        del os.environ["ENCELADUS_OVERRIDE_DIR"]


def device_us(call):
    """Microseconds a launch on the device, which finds all of them queued."""
    found = []
    for _ in range(7):
        enceladus.synchronize("cuda:0")
        torch.cuda._sleep(GATE_CYCLES)
        # Ours, as they hand over launches that are held back; in the order of the default stream.
        start, end = enceladus._core.Event(), enceladus._core.Event()
        with enceladus.device("cuda:0"):
            start.record()
            for _ in range(QUEUED):
                call()
            end.record()
        found.append(start.elapsed_ms(end) * 1e3 / QUEUED)
    return statistics.median(found)


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
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.cuda.launches"], stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise RuntimeError(f"the launches ended with {done.returncode}")
    return json.loads(done.stdout)


def run_here():
    n = 1024
    x, y, out = (torch.randn(n, device="cuda") for _ in range(3))
    a, b, c = (enceladus.randn(n, device="cuda:0") for _ in range(3))
    p, q, r = (enceladus.from_dlpack(t) for t in (x, y, out))
    ours = kernels.add_kernel[(1,)]
    contenders = {
        "enceladus, Tensor": lambda: ours(a, b, c, n, BLOCK=1024),
        "enceladus, Tensor shared with torch": lambda: ours(p, q, r, n, BLOCK=1024),
        "enceladus, torch tensors": lambda: ours(x, y, out, n, BLOCK=1024),
        "torch.add": lambda: torch.add(x, y, out=out),
    }
    module = triton_kernels()
    if module is not None:
        theirs = module.add_kernel[(1,)]
        contenders["triton"] = lambda: theirs(x, y, out, n, BLOCK=1024)
    for call in contenders.values():
        call()
    bursts = {name: burst(call) for name, call in contenders.items()}
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            floor = Floor(folder, (x, y, out), n)
            rows = floor.rows()
            bursts = {WAYS[0]: floor.burst(), **bursts}
        except RuntimeError as error:
            print(error, file=sys.stderr)
        times = host_us(bursts)
    for name, call in contenders.items():
        wait = enceladus.synchronize if "Tensor" in name else torch.cuda.synchronize
        rows[name] = {"device us": device_us(call), "round trip us": round_trip_us(call, wait)}
    for name, microseconds in times.items():
        rows[name]["host us"] = microseconds
    return rows


if __name__ == "__main__":
    print(json.dumps(run_here()))
