"""From a new process to the end of its first launch: cold (empty caches) and warm (compiled by an
earlier process); Triton's beside it. Times begin when the arrays lie on the device, so the driver's
own start is not in them, nor what of the compiler's start the runtime does meanwhile. `stages` are
those of the cold launch whose time is the median."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 3

OURS = """
import json, time
start = time.perf_counter()
import enceladus
imported = time.perf_counter()
from benchmarks.cuda import kernels
sizes = {sizes}
arrays = [enceladus.zeros(shape, dtype=dtype, device="cuda:0") for shape, dtype in sizes]
enceladus.synchronize()
begin = time.perf_counter()
kernels.{kernel}[{grid}](*arrays, {arguments})
enceladus.synchronize()
end = time.perf_counter()
compiled = kernels.{kernel}.warmup(*arrays, {arguments})
print(json.dumps({{
    "import ms": 1e3 * (imported - start),
    "first launch ms": 1e3 * (end - begin),
    "stages": dict(compiled.timings),
}}))
"""

THEIRS = """
import json, time
start = time.perf_counter()
import torch, triton
imported = time.perf_counter()
from benchmarks.cuda.peers import triton_kernels
kernels = triton_kernels()
sizes = {sizes}
arrays = [torch.zeros(s, dtype=getattr(torch, t), device="cuda") for s, t in sizes]
torch.cuda.synchronize()
begin = time.perf_counter()
kernels.{kernel}[{grid}](*arrays, {arguments})
torch.cuda.synchronize()
end = time.perf_counter()
print(json.dumps({{
    "import ms": 1e3 * (imported - start),
    "first launch ms": 1e3 * (end - begin),
}}))
"""

KERNELS = {
    "add": {
        "kernel": "add_kernel",
        "sizes": [((4096,), "float32")] * 3,
        "grid": "(4,)",
        "arguments": "4096, BLOCK=1024, num_warps=4",
    },
    "matmul": {
        "kernel": "pointer_matmul_kernel",
        "sizes": [((512, 512), "float16")] * 3,
        "grid": "(8, 8)",
        "arguments": "512, 512, 512, BM=64, BN=64, BK=32, num_warps=4, num_stages=3",
    },
    "matmul by descriptors": {
        "kernel": "matmul_kernel",
        "sizes": [((512, 512), "float16")] * 3,
        "grid": "(8,)",
        "arguments": "512, 512, 512, ACC={language}.float32, BM=128, BN=256, BK=64, GROUP=8, "
        "num_warps=8, num_stages=4",
    },
}


def child(text, name, folder):
    """What a new process prints, its caches in a folder."""
    given = KERNELS[name]
    language = "__import__('triton').language" if "triton" in text else "enceladus.language"
    arguments = given["arguments"].format(language=language)
    # NVRTC keeps what it compiled in a cache of its own, by its text.
    folders = {
        "ENCELADUS_CACHE_DIR": f"{folder}/ours",
        "TRITON_CACHE_DIR": f"{folder}/theirs",
        "CUDA_CACHE_DISABLE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", text.format(**{**given, "arguments": arguments})],
        env={**os.environ, **folders},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1][:300])
    return json.loads(done.stdout.splitlines()[-1])


def times(text, name, rounds):
    """Medians by name, of `rounds` cold processes and as many warm ones."""
    samples = {"cold ms": [], "warm ms": [], "import ms": []}
    cold = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            for column in ("cold ms", "warm ms"):
                found = child(text, name, folder)
                samples[column].append(found["first launch ms"])
                samples["import ms"].append(found["import ms"])
                if column == "cold ms":
                    cold.append(found)
    row = {column: statistics.median(values) for column, values in samples.items()}
    median = sorted(cold, key=lambda found: found["first launch ms"])[len(cold) // 2]
    stages = median.get("stages", {})
    return {**row, "stages": stages, "stages of ms": median["first launch ms"]}


def has_triton():
    import importlib.util

    return importlib.util.find_spec("triton") is not None


def run(rounds=ROUNDS):
    """Rows by kernel and contender."""
    contenders = {"enceladus": OURS} | ({"triton": THEIRS} if has_triton() else {})
    rows = {}
    for name in KERNELS:
        for contender, text in contenders.items():
            count = rounds if contender == "enceladus" else 1
            try:
                rows[f"{name}, {contender}"] = times(text, name, count)
            except RuntimeError as problem:
                rows[f"{name}, {contender}"] = {"failed": str(problem)}
    return rows
