"""The matmul program of the performance page, as written there, in processes of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

# What the page leaves out: imports, arrays, sizes; afterwards, a check of the result.
SETUP = """
import sys
import numpy as np
import enceladus
import enceladus.language as tl

M, N, K = 1024, 1024, 512
generator = np.random.default_rng(0)
host_a = generator.standard_normal((M, K), np.float32).astype(np.float16)
host_b = generator.standard_normal((K, N), np.float32).astype(np.float16)
host_c = np.zeros((M, N), np.float16)
make = enceladus.from_numpy if sys.argv[1] == "tensor" else np.asarray
a, b, c = make(host_a), make(host_b), make(host_c)
"""

PAGE = """
from enceladus.configs import matmul_configs


@enceladus.autotune(configs=matmul_configs("float16"), key=["M", "N", "K"])
@enceladus.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [stride_am, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [stride_bk, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [stride_cm, 1], [BM, BN])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([pid_m * BM, k]), b.load([k, pid_n * BN]), acc)
    c.store([pid_m * BM, pid_n * BN], acc.to(c.dtype))


grid = lambda meta: (enceladus.cdiv(N, meta["BN"]), enceladus.cdiv(M, meta["BM"]))
matmul_kernel[grid](a, b, c, M, N, K, K, N, N)
print("chose", matmul_kernel.config_for(a, b, c, M, N, K, K, N, N))
"""

CHECK = """
expected = host_a.astype(np.float32) @ host_b.astype(np.float32)
# float32 sums of 512 products, rounded once to float16.
error = np.abs(np.asarray(c).astype(np.float32) - expected)
assert (error <= 1e-3 * np.abs(expected) + 1e-3).all(), error.max()
assert matmul_kernel.config_for(a, b, c, M, N, K, K, N, N) in matmul_configs("float16")
print("correct")
"""

CONFIG = (
    r"enceladus\.Config\(\{'BM': \d+, 'BN': \d+, 'BK': \d+\}, num_warps=\d+"
    r"(?:, dot_warps=\(\d+, \d+\))?(?:, dot_backend='\w+')?(?:, num_stages=\d+)?\)"
)
LINE = re.compile(
    r"enceladus: autotuning matmul_kernel \[1024\|1024\|512\|float16,float16,float16\] "
    rf"chose ({CONFIG}) \(\d+\.\d{{3}} ms\)"
)


def run_page(folder, kind):
    script = folder / "page.py"
    script.write_text(SETUP + PAGE + CHECK)
    environment = {
        **os.environ,
        "ENCELADUS_CACHE_DIR": str(folder / "cache"),
        "ENCELADUS_PRINT_AUTOTUNING": "1",
    }
    environment.pop("ENCELADUS_INTERPRET", None)
    command = [sys.executable, str(script), kind]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    return done


def test_the_expected_format_is_the_pages_own():
    assert LINE.fullmatch(
        "enceladus: autotuning matmul_kernel [1024|1024|512|float16,float16,float16] chose "
        "enceladus.Config({'BM': 64, 'BN': 32, 'BK': 32}, num_warps=4, dot_warps=(4, 1), "
        "dot_backend='mpp') (0.186 ms)"
    )


@pytest.mark.parametrize("kind", ["tensor", "numpy"])
def test_the_page_runs_prints_its_line_and_remembers_the_choice(tmp_path, kind):
    first = run_page(tmp_path, kind)
    (line,) = first.stderr.splitlines()
    match = LINE.fullmatch(line)
    assert match, line
    assert first.stdout.splitlines() == [f"chose {match[1]}", "correct"]
    second = run_page(tmp_path, kind)
    assert second.stderr == ""  # remembered: nothing was tuned
    assert second.stdout == first.stdout
