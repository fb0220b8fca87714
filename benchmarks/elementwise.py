"""Vector add and a fused bias-free GELU over large float32 arrays, against memory bandwidth."""

import math

import numba
import numpy as np
import torch

import enceladus
import enceladus.language as tl
from benchmarks.harness import Case, Report
from benchmarks.kernels import empty, example, random
from benchmarks.machine import copy_bandwidth

SQRT_HALF = tl.constexpr(math.sqrt(0.5))
BLOCK = 4096


@enceladus.jit
def gelu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, 0.5 * x * (1.0 + tl.erf(x * SQRT_HALF)), mask=mask)


@numba.njit(parallel=True, fastmath=True)
def numba_add(x, y, out):
    for i in numba.prange(x.size):
        out[i] = x[i] + y[i]


@numba.njit(parallel=True, fastmath=True)
def numba_gelu(x, out):
    for i in numba.prange(x.size):
        out[i] = (
            np.float32(0.5) * x[i] * (np.float32(1.0) + math.erf(x[i] * np.float32(0.70710678)))
        )


def torch_chain(x):
    """GELU as one writes it without fusion."""
    return 0.5 * x * (1.0 + torch.erf(x * math.sqrt(0.5)))


def add_case(size):
    x, y = random(size), random(size, seed=1)
    outs = {name: empty(size) for name in ("enceladus", "torch", "numpy", "numba")}
    kernel, grid = example("01_vector_add").add_kernel, (enceladus.cdiv(size, BLOCK),)
    launch = kernel[grid]
    ours = outs["enceladus"].tensor
    return Case(
        f"add, 2^{int(math.log2(size))} float32",
        {
            "enceladus": lambda: launch(x.tensor, y.tensor, ours, size, BLOCK=BLOCK),
            "torch.add(out=)": lambda: torch.add(x.torch, y.torch, out=outs["torch"].torch),
            "numpy.add(out=)": lambda: np.add(x.numpy, y.numpy, out=outs["numpy"].numpy),
            "numba prange": lambda: numba_add(x.numpy, y.numpy, outs["numba"].numpy),
        },
        amount=12 * size,
        unit="GB/s",
        ceiling=copy_bandwidth(),
        results={
            "torch.add(out=)": lambda: outs["torch"].numpy,
            "enceladus": lambda: outs["enceladus"].numpy,
        },
        tolerance=0,
    )


def gelu_case(size):
    x = random(size)
    outs = {name: empty(size) for name in ("enceladus", "chain", "numba")}
    launch = gelu_kernel[(enceladus.cdiv(size, BLOCK),)]
    ours = outs["enceladus"].tensor

    def chain():
        outs["chain"].torch = torch_chain(x.torch)

    return Case(
        f"GELU, 2^{int(math.log2(size))} float32",
        {
            "enceladus (fused)": lambda: launch(x.tensor, ours, size, BLOCK=BLOCK),
            "torch, unfused chain": chain,
            "torch gelu (one call)": lambda: torch.nn.functional.gelu(x.torch),
            "numba prange": lambda: numba_gelu(x.numpy, outs["numba"].numpy),
        },
        amount=8 * size,
        unit="GB/s",
        ceiling=copy_bandwidth(),
        results={
            "torch, unfused chain": lambda: outs["chain"].torch.numpy(),
            "enceladus (fused)": lambda: outs["enceladus"].numpy,
        },
        tolerance=1e-6,
    )


def run(quick=False):
    report = Report("elementwise", quick)
    for exponent in (16,) if quick else (16, 20, 26):
        report.add(add_case(1 << exponent))
        report.add(gelu_case(1 << exponent))
    report.write()
