"""How well epilogues round: the share of float16 results of a GELU that are not the nearest.

The products are of few small multiples of 1/16, so that all sums are exact and what differs is the
GELU's. Epilogues that take the device's short tanh show it here.
"""

import torch

from benchmarks.cuda import kernels
from benchmarks.cuda.products import LARGE_TILE, tile_grid

SIZE, DEPTH = 4096, 64


def sixteenths(*shape):
    return (torch.randint(-8, 9, shape, device="cuda") / 16).half()


def run():
    """Rows by contender: {"not nearest": share of the results, "ulp": most by which one is off}."""
    a, b = sixteenths(SIZE, DEPTH), sixteenths(DEPTH, SIZE)
    zeros = torch.zeros(SIZE, device="cuda", dtype=torch.float16)
    exact = torch.nn.functional.gelu(a.double() @ b.double(), approximate="tanh").half()

    def ours(kernel):
        out = torch.empty_like(exact)
        grid = tile_grid(SIZE, SIZE, LARGE_TILE)
        kernel[grid](a, b, out, zeros, SIZE, SIZE, DEPTH, **LARGE_TILE)
        return out

    found = {
        "enceladus": ours(kernels.bias_gelu_kernel),
        "enceladus, short tanh": ours(kernels.short_bias_gelu_kernel),
        "cuBLASLt epilogue": torch._addmm_activation(zeros, a, b, use_gelu=True),
    }
    return {name: compared(out, exact) for name, out in found.items()}


def ordered(halves):
    """Integers that count the float16 numbers up; both zeros are 0."""
    bits = halves.view(torch.int16).int()
    return torch.where(bits < 0, -(bits & 0x7FFF), bits)


def compared(out, exact):
    off = (ordered(out) - ordered(exact)).abs()
    return {"not nearest": float((off > 0).float().mean()), "ulp": int(off.max())}
