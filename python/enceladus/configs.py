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
# (BM, BN, num_warps, num_stages); rows of a warp stay with it, so that softmax needs no exchange.
_CUDA_ATTENTION = (
    (64, 64, 4, 3),
    (128, 64, 8, 3),
    (128, 128, 8, 2),
    (128, 64, 4, 3),
    (64, 32, 4, 3),
)

_MATMUL_DTYPES = ("float32", "float16", "bfloat16", "float64", "int8", "uint8", "int16", "int32")
_ATTENTION_DTYPES = ("float32", "float16", "bfloat16", "float64")


def _check_dtype(dtype: Any, known: tuple[str, ...], what: str) -> None:
    name = dtype_name(dtype)
    if name not in known:
        raise ValueError(f"{what} has no configs for {name}; it takes {', '.join(known)}")


def _target(what: str) -> str:
    target = current_device().name.partition(":")[0]
    if target not in ("cpu", "cuda"):
        raise EnceladusError(f"{what} has no configs for the target {target!r} yet")
    return target


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
    if _target("matmul_configs") == "cuda":
        is_wide = dtype_name(dtype) in ("float32", "float64", "int32")
        return [
            Config({"BM": bm, "BN": bn, "BK": bk}, num_warps=warps, num_stages=stages)
            for bm, bn, bk, warps, stages in (_CUDA_MATMUL_WIDE if is_wide else _CUDA_MATMUL)
        ]
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
    if _target("attention_configs") == "cuda":
        return [
            Config({"BM": bm, "BN": bn}, num_warps=w, dot_warps=(w, 1), num_stages=s)
            for bm, bn, w, s in _CUDA_ATTENTION
        ]
    return [Config({"BM": bm, "BN": bn}, dot_warps=(4, 1)) for bm, bn in _CPU_ATTENTION]
