"""Lists of configs for common kernels, chosen for the current target by measurement.

Each list starts with a safe default, which is also what the interpreter uses.
"""

from __future__ import annotations

from typing import Any

from enceladus.devices import current_device
from enceladus.errors import EnceladusError
from enceladus.interop.dtypes import dtype_name
from enceladus.tuning.config import Config

__all__ = ["attention_configs", "matmul_configs"]

# (BM, BN, BK). On the CPU the K loop runs inside a register block, so BK only names the step.
# Measured with AVX2, 512^3 and 1024^3: tiles of 64 rows and more lie within 3 % of one another; at
# 2048^3 a tile of 256 x 256 gains 12 %. The small ones serve small matrices and few rows.
_CPU_MATMUL = (
    (64, 64, 64),
    (128, 128, 64),
    (128, 256, 64),
    (256, 256, 64),
    (32, 128, 64),
    (16, 64, 64),
)
# (BM, BN): rows of queries, and keys a step. Measured at 2048 x 64 and 512 x 128: 128 x 128 is the
# fastest or within 3 % of it, 64 x 64 loses 2 to 30 %, 32 rows and fewer 30 to 60 %.
_CPU_ATTENTION = ((64, 64), (128, 128), (128, 64), (64, 128), (32, 64))
_WIDEST_HEAD = 256
# (BM, BN, BK, num_warps, num_stages). A thread keeps BM * BN / (32 * num_warps) sums in registers:
# 64 of them leave room for the operands, 128 still fit. float32 is multiplied outside the tensor
# cores and needs more registers for operands; what has 8-byte elements, half the tile.
_CUDA_MATMUL = (
    (128, 128, 64, 8, 3),
    (128, 256, 64, 8, 3),
    (128, 256, 64, 8, 4),
    (128, 128, 64, 4, 4),
    (128, 128, 32, 8, 4),
    (64, 128, 64, 4, 4),
    (64, 64, 64, 4, 4),
    (32, 64, 64, 4, 4),
)
_CUDA_MATMUL_WIDE = (
    (64, 64, 16, 8, 2),
    (64, 64, 32, 8, 2),
    (128, 64, 16, 8, 2),
    (32, 64, 32, 4, 2),
    (32, 32, 32, 4, 2),
)
# Rows of 128 elements are the 128 bytes that the copy engine and the units like best, where both
# operands have the inner axis last; integers whose second operand has not take 64 and four warps.
_CUDA_MATMUL_BYTES = (
    (128, 128, 64, 8, 3),
    (128, 256, 128, 8, 4),
    (128, 256, 128, 8, 3),
    (128, 128, 128, 8, 4),
    (128, 128, 128, 4, 4),
    (64, 128, 128, 4, 4),
    (64, 64, 128, 4, 4),
    (128, 128, 64, 4, 4),
    (32, 64, 64, 4, 4),
)
# (BM, BN, num_warps, num_stages); rows of a warp stay with it, so that softmax needs no exchange.
_CUDA_ATTENTION = (
    (64, 64, 4, 3),
    (128, 64, 8, 3),
    (128, 128, 8, 2),
    (64, 32, 4, 3),
)

# (BM, BN, warps, grid of warps). Published measurements of an M4 Pro: 16 x 64 elements a warp are
# the fastest; 4 x 4 fragments of 8 x 8 a warp, and 2 x 16, spill in float32 (7 to 15 times slower),
# 8 x 4 in every type. Nothing here has more than 16 fragments a warp, nor 4 x 4 in float32.
_METAL_MATMUL = (
    (64, 64, 4, (4, 1)),
    (64, 32, 4, (4, 1)),
    (128, 64, 8, (8, 1)),
    (32, 64, 2, (2, 1)),
    (32, 32, 4, (4, 1)),
    (16, 32, 2, (2, 1)),
)
_METAL_MATMUL_HALF = ((64, 64, 4, (2, 2)),)  # 4 x 4 fragments a warp
_METAL_MATMUL_MPP = ((64, 64, 4, (4, 1)), (64, 32, 4, (4, 1)), (128, 64, 8, (8, 1)))
_METAL_DEPTH = 32
# (BM, BN, warps) by the widest head that they serve: whole rows a warp, so that the scores stay in
# registers from the first product to the second.
_METAL_ATTENTION = {
    64: ((32, 32, 4), (64, 32, 4), (64, 64, 4), (64, 32, 8), (128, 32, 8)),
    128: ((32, 32, 4), (32, 64, 4), (64, 32, 8), (64, 64, 8)),
    256: ((32, 16, 4), (64, 16, 8), (32, 32, 4)),
}

_FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
_MATMUL_DTYPES = (
    *("float32", "float16", "bfloat16", "float64", "int8", "uint8", "int16", "int32"),
    *_FLOAT8,
)
_ATTENTION_DTYPES = ("float32", "float16", "bfloat16", "float64")
_METAL_TARGETS = ("metal", "metal-sim")


def _check_dtype(dtype: Any, known: tuple[str, ...], what: str) -> None:
    name = dtype_name(dtype)
    if name not in known:
        raise ValueError(f"{what} has no configs for {name}; it takes {', '.join(known)}")


def _target(dtype: Any, what: str) -> str:
    target = current_device().name.partition(":")[0]
    if target in _METAL_TARGETS and dtype_name(dtype) == "float64":
        raise ValueError(f"{what} has no configs for float64 on {target}; use float32")
    if target not in ("cpu", "cuda", *_METAL_TARGETS):
        raise EnceladusError(f"{what} has no configs for the target {target!r} yet")
    return target


def _cuda_matmul_tiles(dtype: str) -> tuple[tuple[int, int, int, int, int], ...]:
    if dtype in ("float32", "float64", "int32"):
        return _CUDA_MATMUL_WIDE
    return _CUDA_MATMUL_BYTES if dtype in (*_FLOAT8, "int8", "uint8") else _CUDA_MATMUL


def _metal_matmul_configs(dtype: str) -> list[Config]:
    def listed(shapes: tuple[Any, ...], backend: str | None) -> list[Config]:
        return [
            Config(
                {"BM": bm, "BN": bn, "BK": _METAL_DEPTH},
                num_warps=warps,
                dot_warps=grid,
                dot_backend=backend,
            )
            for bm, bn, warps, grid in shapes
        ]

    if dtype in _FLOAT8:  # multiplied as float16; `mpp` converts no operands
        return listed(_METAL_MATMUL + _METAL_MATMUL_HALF, "simdgroup")
    if dtype not in ("float32", "float16", "bfloat16"):
        return [Config({"BM": 32, "BN": 32, "BK": _METAL_DEPTH})]
    half = _METAL_MATMUL_HALF if dtype != "float32" else ()
    return listed(_METAL_MATMUL + half, "simdgroup") + listed(_METAL_MATMUL_MPP, "mpp")


def _metal_attention_configs(head_dim: int) -> list[Config]:
    widest = next(widest for widest in _METAL_ATTENTION if head_dim <= widest)
    return [
        Config({"BM": bm, "BN": bn}, num_warps=warps, dot_warps=(warps, 1))
        for bm, bn, warps in _METAL_ATTENTION[widest]
    ]


def matmul_configs(dtype: Any) -> list[Config]:
    """Configs for a matmul kernel with the constexprs BM, BN and BK.

    Args:
        dtype: of the operands: a `tl` dtype, a NumPy dtype, or a name.

    Raises:
        ValueError: `tl.dot` does not take the dtype.

    Example:
        >>> matmul_configs("float16")[0]
        enceladus.Config({'BM': 64, 'BN': 64, 'BK': 64}, num_warps=4)
    """
    _check_dtype(dtype, _MATMUL_DTYPES, "matmul_configs")
    target = _target(dtype, "matmul_configs")
    if target == "cuda":
        return [
            Config({"BM": bm, "BN": bn, "BK": bk}, num_warps=warps, num_stages=stages)
            for bm, bn, bk, warps, stages in _cuda_matmul_tiles(dtype_name(dtype))
        ]
    if target in _METAL_TARGETS:
        return _metal_matmul_configs(dtype_name(dtype))
    return [Config({"BM": bm, "BN": bn, "BK": bk}) for bm, bn, bk in _CPU_MATMUL]


def attention_configs(dtype: Any, head_dim: int) -> list[Config]:
    """Configs for a flash attention kernel with the constexprs BM (queries) and BN (keys).

    Args:
        dtype: of queries, keys and values.
        head_dim: elements of one head's vectors, at most 256.

    Raises:
        ValueError: no floating-point dtype, or a wider head.

    Example:
        >>> attention_configs("float32", 64)[0]
        enceladus.Config({'BM': 64, 'BN': 64}, num_warps=4, dot_warps=(4, 1))
    """
    _check_dtype(dtype, _ATTENTION_DTYPES, "attention_configs")
    if not 1 <= head_dim <= _WIDEST_HEAD:
        raise ValueError(f"head_dim is 1 to {_WIDEST_HEAD}, not {head_dim}")
    target = _target(dtype, "attention_configs")
    if target == "cuda":
        return [
            Config({"BM": bm, "BN": bn}, num_warps=w, dot_warps=(w, 1), num_stages=s)
            for bm, bn, w, s in _CUDA_ATTENTION
        ]
    if target in _METAL_TARGETS:
        return _metal_attention_configs(head_dim)
    return [Config({"BM": bm, "BN": bn}, dot_warps=(4, 1)) for bm, bn in _CPU_ATTENTION]
