"""Copy bandwidth and matmul rates of a device, beside published ones of an M4 Pro.

Medians of `do_bench`. Says how a device compares; judges nothing, since chips differ.
"""

from __future__ import annotations

import numpy as np

import enceladus
from enceladus.cli import kernels
from enceladus.testing import do_bench

__all__ = ["rates"]

# Measured on an M4 Pro, GPU time: copies of 256 MB arrays, products of 4096^3.
_PUBLISHED = {"copy": "238 GB/s", "float32": "5.40 TFLOPS", "float16": "6.04 TFLOPS"}


def _copy(device: str, megabytes: int) -> str:
    size = megabytes * 2**20 // 4
    x = enceladus.randn(size, device=device)
    out = enceladus.empty(size, dtype="float32", device=device)
    launch = kernels.compiled(kernels.copy)[(enceladus.cdiv(size, 4096),)]
    milliseconds = do_bench(lambda: launch(x, out, size, BLOCK=4096, num_warps=8))
    if not np.array_equal(out.numpy(), x.numpy()):
        return "the copy differs from its source"
    return f"{2e-6 * x.nbytes / milliseconds:.4g} GB/s"


def _matmul(device: str, size: int, dtype: str) -> str:
    a = enceladus.randn((size, size), device=device).to(dtype)
    b = enceladus.randn((size, size), device=device).to(dtype)
    out = enceladus.empty((size, size), dtype=dtype, device=device)
    launch = kernels.compiled(kernels.matmul)[(size // 64, size // 64)]
    milliseconds = do_bench(
        lambda: launch(a, b, out, size, size, size, BM=64, BN=64, BK=32, num_warps=4)
    )
    return f"{2e-9 * size**3 / milliseconds:.4g} TFLOPS"


def rates(device: str, quick: bool) -> list[tuple[str, str, str]]:
    """Rows of what was measured, how fast it was, and what is published."""
    megabytes, size = (16, 512) if quick or device == "cpu" else (256, 4096)
    with enceladus.device(device):
        rows = [(f"copy of {megabytes} MB", _copy(device, megabytes), _PUBLISHED["copy"])]
        for dtype in ("float32", "float16"):
            rows.append(
                (f"matmul {size}^3 {dtype}", _matmul(device, size, dtype), _PUBLISHED[dtype])
            )
    return rows
