"""Compile latency: cold in a new process, cold again, and warm from disk; numba beside it; and the
time to Metal text."""

import json
import os
import statistics
import subprocess
import sys
import tempfile

from benchmarks.harness import Report

CHILD = """
import json, sys, time
import enceladus
from benchmarks.kernels import example

stages = {}

def timed(work):
    start = time.perf_counter_ns()
    compiled = work()
    elapsed = (time.perf_counter_ns() - start) * 1e-6
    stages.update(compiled.timings)
    return elapsed

x = enceladus.MockTensor("float32")
add = example("01_vector_add").add_kernel
matmul = example("04_matmul").descriptor_kernel.fn
tile = {"BM": 64, "BN": 64, "BK": 64}
found = {
    "vector add, first in the process": timed(lambda: add.warmup(x, x, x, 1000, BLOCK=1024)),
    "vector add, another block": timed(lambda: add.warmup(x, x, x, 1000, BLOCK=2048)),
}
stages_of_add = dict(stages)
found |= {
    "matmul 64x64x64": timed(
        lambda: matmul.warmup(x, x, x, 512, 512, 512, 512, 512, 512, **tile)
    ),
}
print(json.dumps({"times": found, "stages": stages_of_add}))
"""

# From the frontend to Metal's text, no cache between; the least of many, as the machine allows.
METAL_CHILD = """
import json, time
from enceladus import _core
from benchmarks.kernels import example

def specs(kernel, constexprs, scalars):
    found = []
    for parameter in kernel.parameters:
        name = parameter.name
        if name in constexprs:
            found.append((name, "constexpr", constexprs[name]))
        elif name.endswith("_ptr"):
            found.append((name, "pointer", "float16", True))
        else:
            found.append((name, "scalar", scalars.get(name, "int32"), True, False))
    return found

def timed(kernel, constexprs, scalars={}):
    options = {"device": "metal", "arrays_disjoint": True, "arrays_small": True}
    times = []
    for _ in range(50):
        start = time.perf_counter_ns()
        _core.compile(kernel, specs(kernel, constexprs, scalars), options)
        times.append((time.perf_counter_ns() - start) * 1e-6)
    return min(times)

tile = {"BM": 64, "BN": 64, "BK": 32}
head = {"CAUSAL": True, "BD": 64, "BM": 64, "BN": 32}
attention = example("08_flash_attention").attention_kernel.fn
print(json.dumps({
    "vector add": timed(example("01_vector_add").add_kernel, {"BLOCK": 1024}),
    "matmul 64x64x32": timed(example("04_matmul").descriptor_kernel.fn, tile),
    "attention 64x32, head of 64": timed(attention, head, {"scale_log2": "float32"}),
}))
"""

NUMBA_CHILD = """
import json, time
import numba, numpy as np

@numba.njit(fastmath=True)
def add(x, y, out):
    for i in range(x.size):
        out[i] = x[i] + y[i]

@numba.njit(fastmath=True)
def scale(x, y, out):
    for i in range(x.size):
        out[i] = x[i] * y[i]

x = np.zeros(4, np.float32)
times = []
for function in (add, scale):
    start = time.perf_counter_ns()
    function(x, x, x)
    times.append((time.perf_counter_ns() - start) * 1e-6)
print(json.dumps({"numba, first in the process": times[0], "numba, another function": times[1]}))
"""


def run_child(text, folder):
    environment = {**os.environ, "ENCELADUS_CACHE_DIR": folder}
    command = [sys.executable, "-c", text]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(output.stdout)


def medians(runs):
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def run(quick=False):
    report = Report("compile", quick)
    cold, warm, stages, numba = [], [], [], []
    for _ in range(1 if quick else 7):
        with tempfile.TemporaryDirectory() as folder:
            first, second = run_child(CHILD, folder), run_child(CHILD, folder)
            cold.append(first["times"])
            stages.append(first["stages"])
            warm.append(second["times"])
            numba.append(run_child(NUMBA_CHILD, folder))
    rows = [{"what": f"{name}, cold", "ms": ms} for name, ms in medians(cold).items()]
    rows += [{"what": f"{name}, from disk", "ms": ms} for name, ms in medians(warm).items()]
    rows += [{"what": name, "ms": ms} for name, ms in medians(numba).items()]
    report.table("Compile latency, each in a new process", rows)
    rows = [{"stage": name, "ms": ms} for name, ms in medians(stages).items()]
    report.table("Stages of the second compilation of the vector add", rows)
    with tempfile.TemporaryDirectory() as folder:
        metal = run_child(METAL_CHILD, folder)
    rows = [{"what": name, "ms": ms} for name, ms in metal.items()]
    report.table("From the frontend to Metal text", rows)
    report.write()
