"""Workloads bound by the tensor cores: matmul with and without an epilogue, attention."""

import math

import torch

import enceladus
import enceladus.language as tl
from benchmarks.cuda import kernels
from benchmarks.cuda.peers import tuned
from benchmarks.cuda.workload import Workload
from enceladus.configs import attention_configs, matmul_configs

F = torch.nn.functional
OURS = {torch.float16: "float16", torch.bfloat16: "bfloat16", torch.int8: "int8"}
# What the package's list lacks and Triton chose in some run. Each contender takes its best of all.
MORE_TILES = ((256, 128, 64, 8, 3),)
MORE_ATTENTION_TILES = ((128, 64, 4, 3), (128, 128, 8, 3))


def matmul_tiles(dtype, more=MORE_TILES):
    """(BM, BN, BK, num_warps, num_stages): those of the package, and more."""
    with enceladus.device("cuda:0"):
        configs = matmul_configs(dtype)
    return (*((*c.kwargs.values(), c.num_warps, c.num_stages) for c in configs), *more)


def tile_configs(tiles, **more):
    return [
        {
            "BM": bm,
            "BN": bn,
            "BK": bk,
            "GROUP": 8,
            "num_warps": count,
            "num_stages": stages,
            **more,
        }
        for bm, bn, bk, count, stages in tiles
    ]


# What 8192^3 of 16-bit floats chose in the recorded runs.
(LARGE_TILE,) = tile_configs([(128, 256, 64, 8, 4)])


def triton_configs(tiles, accumulator):
    """The same with Triton's name of the accumulator's type; none where Triton is missing."""
    try:
        import triton.language
    except ImportError:
        return []
    return tile_configs(tiles, ACC=getattr(triton.language, accumulator))


def tile_grid(m, n, config):
    return (enceladus.cdiv(m, config["BM"]) * enceladus.cdiv(n, config["BN"]),)


def operands(m, n, k, dtype):
    if dtype == torch.int8:
        a = torch.randint(-128, 128, (m, k), device="cuda", dtype=dtype)
        b = torch.randint(-128, 128, (k, n), device="cuda", dtype=dtype)
        return {"a": a, "b": b, "out": torch.empty(m, n, device="cuda", dtype=torch.int32)}
    a, b = (torch.randn(*s, device="cuda", dtype=dtype) for s in ((m, k), (k, n)))
    return {"a": a, "b": b, "out": torch.empty(m, n, device="cuda", dtype=dtype)}


def product(s):
    if s["a"].dtype == torch.int8:
        return torch._int_mm(s["a"], s["b"])
    return s["a"].float() @ s["b"].float()


def matmul(m, n, k, dtype):
    is_int = dtype == torch.int8
    peer = torch._int_mm if is_int else torch.mm
    accumulator = "int32" if is_int else "float32"
    tiles = matmul_tiles(OURS[dtype])
    return Workload(
        title=f"matmul {m}x{n}x{k} {OURS[dtype]}",
        make=lambda: operands(m, n, k, dtype),
        reference=product,
        tolerance=0 if is_int else (8e-3 if dtype == torch.bfloat16 else 1e-3),
        amount=2.0 * m * n * k,
        unit="TFLOP/s",
        set_bytes=(m * k + k * n + m * n) * dtype.itemsize,
        kernel="matmul_kernel",
        bind=lambda s, c: ((s["a"], s["b"], s["out"], m, n, k), tile_grid(m, n, c)),
        configs=tile_configs(tiles, ACC=getattr(tl, accumulator)),
        triton_configs=triton_configs(tiles, accumulator),
        peers={"cuBLAS": lambda s: peer(s["a"], s["b"])},
        slow_peers={"torch.compile max-autotune": lambda s: tuned(peer)(s["a"], s["b"])},
    )


def pointer_matmul(size, dtype):
    """Rows that tensor maps cannot describe."""
    tiles = (
        (128, 128, 32, 8, 4), (64, 64, 32, 4, 4), (64, 128, 32, 4, 4), (64, 64, 64, 4, 3),
        (64, 64, 32, 8, 4), (32, 64, 64, 4, 3), (64, 32, 64, 4, 3), (32, 64, 32, 4, 4),
        (32, 32, 64, 4, 3), (32, 32, 128, 4, 2), (32, 32, 64, 2, 3),
    )  # fmt: skip
    return Workload(
        title=f"matmul by pointers {size}^3 {OURS[dtype]}",
        make=lambda: operands(size, size, size, dtype),
        reference=product,
        tolerance=1e-3,
        amount=2.0 * size**3,
        unit="TFLOP/s",
        set_bytes=3 * size * size * dtype.itemsize,
        kernel="pointer_matmul_kernel",
        bind=lambda s, c: (
            (s["a"], s["b"], s["out"], size, size, size),
            (enceladus.cdiv(size, c["BN"]), enceladus.cdiv(size, c["BM"])),
        ),
        configs=[
            {"BM": bm, "BN": bn, "BK": bk, "num_warps": count, "num_stages": stages}
            for bm, bn, bk, count, stages in tiles
        ],
        peers={"cuBLAS": lambda s: torch.mm(s["a"], s["b"])},
    )


def bias_gelu(size, dtype, short=False):
    """A product with an epilogue; the product without one, of the same inputs, takes its turns."""
    grid = tile_grid(size, size, LARGE_TILE)

    def make():
        made = operands(size, size, size, dtype)
        made["a"] /= math.sqrt(size)
        more = {"plain": torch.empty_like(made["out"])}
        return {**made, **more, "bias": torch.randn(size, device="cuda", dtype=dtype)}

    def without(s):
        arguments = (s["a"], s["b"], s["plain"], size, size, size)
        kernels.matmul_kernel[grid](*arguments, ACC=tl.float32, **LARGE_TILE)
        return s["plain"]

    return Workload(
        title=f"matmul + bias + GELU {size}^3 {OURS[dtype]}" + (", short tanh" if short else ""),
        make=make,
        reference=lambda s: F.gelu(product(s) + s["bias"].float(), approximate="tanh"),
        tolerance=2e-3,
        amount=2.0 * size**3,
        unit="TFLOP/s",
        set_bytes=4 * size * size * dtype.itemsize,
        kernel="bias_gelu_kernel",
        our_kernel="short_bias_gelu_kernel" if short else None,
        bind=lambda s, c: (
            (s["a"], s["b"], s["out"], s["bias"], size, size, size),
            tile_grid(size, size, c),
        ),
        configs=tile_configs(matmul_tiles(OURS[dtype])),
        peers={
            "cuBLASLt epilogue": lambda s: torch._addmm_activation(
                s["bias"], s["a"], s["b"], use_gelu=True
            )
        },
        parts={"enceladus without epilogue": (without, product)},
    )


def attention(batch, heads, length, width, causal):
    def make():
        shape = (batch, heads, length, width)
        q, k, v = (torch.randn(shape, device="cuda", dtype=torch.float16) for _ in range(3))
        return {"q": q, "k": k, "v": v, "out": torch.empty_like(q)}

    def cudnn(s):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return F.scaled_dot_product_attention(s["q"], s["k"], s["v"], is_causal=causal)

    def reference(s):
        # One batch and few heads in float32; the rest by the library's float16.
        from torch.nn.attention import SDPBackend, sdpa_kernel

        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            return F.scaled_dot_product_attention(s["q"], s["k"], s["v"], is_causal=causal)

    with enceladus.device("cuda:0"):
        listed = attention_configs("float16", width)
    tiles = (
        *((*config.kwargs.values(), config.num_warps, config.num_stages) for config in listed),
        *MORE_ATTENTION_TILES,
    )
    return Workload(
        title=f"attention{' causal' if causal else ''} ({batch},{heads},{length},{width})",
        make=make,
        reference=reference,
        tolerance=2e-3,
        amount=4.0 * batch * heads * length * length * width * (0.5 if causal else 1),
        unit="TFLOP/s",
        set_bytes=4 * batch * heads * length * width * 2,
        kernel="attention_kernel",
        bind=lambda s, c: (
            (s["q"], s["k"], s["v"], s["out"], length, 1.4426950408889634 / math.sqrt(width)),
            (enceladus.cdiv(length, c["BM"]), batch * heads),
        ),
        configs=[
            {"CAUSAL": causal, "D": width, "BM": bm, "BN": bn, "num_warps": w, "num_stages": s}
            for bm, bn, w, s in tiles
        ],
        peers={"cuDNN (SDPA)": cudnn},
    )


def workloads(quick):
    fp16, bf16, int8 = torch.float16, torch.bfloat16, torch.int8
    if quick:
        return [matmul(1024, 1024, 1024, fp16), attention(1, 4, 1024, 64, False)]
    return [
        matmul(4096, 4096, 4096, fp16),
        matmul(8192, 8192, 8192, fp16),
        matmul(8192, 8192, 8192, bf16),
        matmul(2000, 2000, 2000, fp16),
        matmul(1024, 4096, 1024, fp16),
        pointer_matmul(513, fp16),
        matmul(8192, 8192, 8192, int8),
        bias_gelu(8192, fp16),
        bias_gelu(8192, fp16, short=True),
        attention(4, 32, 4096, 128, False),
        attention(4, 32, 4096, 128, True),
        attention(1, 16, 2048, 64, False),
    ]
