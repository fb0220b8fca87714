"""What a device computes, against the interpreter and NumPy.

Each check is a function of a device's name that returns a line of detail, or raises
`MismatchError`. The bounds are those of the language's numerical rules (docs/guide.md). Speed is in
rates.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from ml_dtypes import bfloat16, float8_e4m3fn, float8_e5m2

import enceladus
from enceladus.cli import kernels

__all__ = ["CHECKS", "MismatchError"]

# No denormals: GPUs may flush them, which `denormals` tells.
_FLOATS = np.array(
    [0.0, -0.0, 1.0, -1.5, 0.1, 255.5, -129.0, 65519.0, 65520.0, 3.4e38, 2e-38]
    + [2.5, 3.5, -2147483648.0, 2147483648.0, 1e20, -1e20, np.inf, -np.inf, np.nan],
    np.float32,
)
_INTEGERS = np.array(
    [0, 1, -1, 7, -7, 255, 256, -129, 65535, 16777217, 2**31 - 1, -(2**31), -(2**31) + 1],
    np.int32,
)
# Largest errors in units of the last place of float32, and where absolute errors count instead.
_ULP = {"exp": 4, "exp2": 4, "log": 4, "sin": 4, "cos": 4, "sqrt": 2.5, "sqrt_rn": 0.5, "/": 2.5}
_NEAR_ZERO = {"log": 1e-7, "sin": 1e-7, "cos": 1e-7}


class MismatchError(Exception):
    """A device's answer is not what the language promises."""


def _same_bits(name: str, got: Any, wanted: Any) -> None:
    """Raises where two arrays differ in a bit; NaNs are equal whatever their payload."""
    both_nan = np.isnan(got.astype(np.float64)) & np.isnan(wanted.astype(np.float64))
    bits = np.dtype(f"u{got.itemsize}")
    wrong = np.flatnonzero((got.view(bits) != wanted.view(bits)).ravel() & ~both_nan.ravel())
    if wrong.size:
        at = int(wrong[0])
        raise MismatchError(
            f"{name}: {wrong.size} of {got.size} differ; element {at} is {got.ravel()[at]!r}, "
            f"not {wanted.ravel()[at]!r}"
        )


def _on(device: str, array: Any) -> Any:
    return enceladus.from_numpy(np.ascontiguousarray(array), device=device)


def _both(function: Any, device: str, grid: Any, arrays: list[Any], *rest: Any, **meta: Any) -> Any:
    """The last array after a launch on the device, and after one in the interpreter."""
    tensors = [_on(device, array.copy()) for array in arrays]
    with enceladus.device(device):
        kernels.compiled(function)[grid](*tensors, *rest, **meta)
    copies = [array.copy() for array in arrays]
    kernels.interpreted(function)[grid](*copies, *rest, **meta)
    return tensors[-1].numpy(), copies[-1]


def conversions(device: str) -> str:
    """Every conversion between the types that all targets have."""
    with np.errstate(all="ignore"):
        floats = (np.float32, np.float16, bfloat16, float8_e4m3fn, float8_e5m2)
        sources = {np.dtype(t): _FLOATS.astype(t) for t in floats}
        for t in (np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64):
            sources[np.dtype(t)] = _INTEGERS.astype(t)
    for source, values in sources.items():
        for target in sources:
            out = np.zeros(values.size, target)
            got, wanted = _both(kernels.convert, device, (1,), [values, out], values.size, BLOCK=32)
            _same_bits(f"{source} to {target}", got, wanted)
    return f"{len(sources) ** 2} pairs of types agree bit for bit"


def nan_rules(device: str) -> str:
    """Maxima, minima and comparisons of NaN, infinities and signed zeros."""
    x, y = (grid.ravel() for grid in np.meshgrid(_FLOATS, _FLOATS))
    out = np.zeros(5 * x.size, np.float32)
    got, wanted = _both(kernels.extrema, device, (1,), [x, y, out], x.size, BLOCK=512)
    zeros = np.tile((x == 0) & (y == 0), 5)  # which zero is larger is left open
    _same_bits("maximum, minimum, < and !=", got[~zeros], wanted[~zeros])
    rows = np.stack([np.full(_FLOATS.size, np.nan, np.float32), _FLOATS, _FLOATS[::-1]])
    got, wanted = _both(
        kernels.argmax_rows, device, (3,), [rows, np.zeros(3, np.int32)], _FLOATS.size, BLOCK=32
    )
    _same_bits("argmax", got, wanted)
    return f"{x.size} pairs agree"


def integers(device: str) -> str:
    """Wrapping, division by truncation, shifts, at the ends of int32."""
    x, y = (grid.ravel() for grid in np.meshgrid(_INTEGERS, _INTEGERS))
    x, y = x[y != 0].copy(), y[y != 0].copy()
    out = np.zeros(5 * x.size, np.int32)
    got, wanted = _both(kernels.arithmetic, device, (1,), [x, y, out], x.size, BLOCK=256)
    _same_bits("+ * // % << >>", got, wanted)
    return f"{x.size} pairs agree bit for bit"


def _reference(function: str, x: Any) -> Any:
    wide = x.astype(np.float64)
    return 1.0 / wide if function == "/" else getattr(np, function.removesuffix("_rn"))(wide)


def _worst_error(function: str, device: str, math_mode: str) -> float:
    """The largest error of a function, as a share of what is allowed."""
    generator = np.random.default_rng(0)
    x = generator.uniform(-80, 80, 4096).astype(np.float32)
    x = np.abs(x) + np.float32(1e-3) if function in ("log", "sqrt", "sqrt_rn") else x
    with enceladus.device(device):
        source, out = _on(device, x), enceladus.empty(x.size, dtype="float32", device=device)
        kernel = kernels.compiled(kernels.functions, math_mode=math_mode)
        kernel[(4,)](source, out, x.size, FUNCTION=function, BLOCK=1024)
    wanted = _reference(function, x)
    error = np.abs(out.numpy().astype(np.float64) - wanted)
    allowed = _ULP[function] * np.spacing(np.abs(wanted).astype(np.float32)).astype(np.float64)
    # Rounding to nearest is half a unit away at most; the last bit of the double is forgiven.
    return float(np.max(error / np.maximum(allowed * (1 + 1e-6), _NEAR_ZERO.get(function, 0))))


def accuracy(device: str) -> str:
    """float32 functions against NumPy's float64, in both accurate math modes."""
    lines = []
    for math_mode in ("relaxed", "precise"):
        shares = {name: _worst_error(name, device, math_mode) for name in _ULP}
        for name, share in shares.items():
            if not share <= 1:
                raise MismatchError(f"{name} ({math_mode}) has {share:.2f} times the error allowed")
        worst = max(shares, key=lambda name: shares[name])
        lines.append(f"{math_mode}: at most {shares[worst]:.2f} of what is allowed ({worst})")
    return "; ".join(lines)


def math_modes(device: str) -> str:
    """What the accurate modes keep: infinities and NaN, and in `precise` both roundings."""
    told = []
    rows = np.full((2, 40), -np.inf, np.float32)
    rows[0, 17] = 3.0
    factor, negated = np.float32(1 + 2**-12), np.float32(-(1 + 2**-11))
    for math_mode in ("relaxed", "precise"):
        out, sums = _on(device, np.zeros_like(rows)), _on(device, np.ones(32, np.float32))
        with enceladus.device(device):
            softmax = kernels.compiled(kernels.softmax_rows, math_mode=math_mode)
            softmax[(2,)](_on(device, rows), out, 40, BLOCK=64)
            multiply_add = kernels.compiled(kernels.multiply_add, math_mode=math_mode)
            x, y = (_on(device, np.full(32, v, np.float32)) for v in (factor, negated))
            multiply_add[(1,)](x, x, y, sums, BLOCK=32)
        got = out.numpy()
        if got[0].tolist() != [float(column == 17) for column in range(40)]:
            raise MismatchError(f"{math_mode}: a softmax of -inf but for one entry is not exact")
        if not np.isnan(got[1]).all():
            raise MismatchError(f"{math_mode}: a softmax of -inf alone is not NaN")
        # (1 + 2^-12)^2 has a bit that its rounding to float32 loses.
        is_fused = bool(sums.numpy()[0] != 0)
        if is_fused and math_mode == "precise":
            raise MismatchError("precise: a*b + c is rounded once, not twice")
        told.append(f"{math_mode} keeps -inf and NaN and rounds a*b + c {2 - is_fused}x")
    return "; ".join(told)


def denormals(device: str) -> str:
    """Whether a float32 product may be denormal: GPUs may flush it, so it is told, not judged."""
    x = _on(device, np.full(32, 1e-20, np.float32))
    out = _on(device, np.ones(32, np.float32))
    with enceladus.device(device):
        kernels.compiled(kernels.square)[(1,)](x, out, 32, BLOCK=32)
    return "a product of 1e-40 is " + ("flushed to zero" if out.numpy()[0] == 0 else "kept")


def _close(name: str, got: Any, wanted: Any, tolerance: float) -> None:
    error = float(np.max(np.abs(got.astype(np.float64) - wanted)))
    scale = float(np.max(np.abs(wanted)))
    if not error <= tolerance * scale:
        raise MismatchError(f"{name}: off by {error:.3g} of {scale:.3g}; {tolerance:g} is allowed")


def rows(device: str) -> str:
    """Softmax and running sums of rows with a ragged end, one to eight warps."""
    x = np.random.default_rng(1).standard_normal((7, 1000)).astype(np.float32)
    shifted = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    for warps in (1, 4, 8):
        for kernel, wanted in (
            (kernels.softmax_rows, shifted / shifted.sum(axis=1, keepdims=True)),
            (kernels.cumsum_rows, np.cumsum(x.astype(np.float64), axis=1)),
        ):
            out = _on(device, np.zeros_like(x))
            with enceladus.device(device):
                kernels.compiled(kernel)[(7,)](
                    _on(device, x), out, 1000, BLOCK=1024, num_warps=warps
                )
            # A thousand roundings of float32 in a tree: far below 2^-23 times their number.
            _close(f"{kernel.__name__}, {warps} warps", out.numpy(), wanted, 1e-5)
    return "softmax and cumsum agree at 1, 4 and 8 warps"


def shapes_and_atomics(device: str) -> str:
    """A transposed tile, and counts by atomic adds of many programs."""
    x = np.arange(16 * 64, dtype=np.int32).reshape(16, 64)
    got, wanted = _both(
        kernels.zip_blocks, device, (1,), [x, np.zeros((64, 16), np.int32)], ROWS=16, COLUMNS=64
    )
    _same_bits("a transposed tile", got, wanted)
    values = np.random.default_rng(2).integers(0, 37, 10_007, np.int32)
    counts = _on(device, np.zeros(37, np.int32))
    with enceladus.device(device):
        kernels.compiled(kernels.count)[(10,)](_on(device, values), counts, 10_007, BLOCK=1024)
    _same_bits("counts", counts.numpy(), np.bincount(values, minlength=37).astype(np.int32))
    return "a transposed tile and 10,007 atomic adds agree"


def products(device: str) -> str:
    """Matrix products of ragged sizes, each element type and dot backend."""
    generator = np.random.default_rng(3)
    # Sums of K = 77 products in float32; 16-bit inputs are exact products, rounded once at the end.
    bounds = {np.dtype(np.float32): 1e-5, np.dtype(np.float16): 2e-3, np.dtype(bfloat16): 1e-2}
    backends = ("simdgroup", "mpp") if device.startswith("metal") else ("auto",)
    for (dtype, tolerance), backend in itertools.product(bounds.items(), backends):
        a = generator.standard_normal((70, 77)).astype(dtype)
        b = generator.standard_normal((77, 45)).astype(dtype)
        out = _on(device, np.zeros((70, 45), dtype))
        with enceladus.device(device):
            kernels.compiled(kernels.matmul)[(2, 3)](
                _on(device, a), _on(device, b), out, 70, 45, 77, BM=32, BN=32, BK=16,
                dot_backend=backend,
            )  # fmt: skip
        wanted = a.astype(np.float64) @ b.astype(np.float64)
        _close(f"matmul {dtype}, {backend}", out.numpy(), wanted, tolerance)
    return f"float32, float16 and bfloat16 agree at 70 x 77 x 45 ({', '.join(backends)})"


def attention(device: str) -> str:
    """Flash attention of a ragged length: two products, a running maximum, scores in registers."""
    generator = np.random.default_rng(4)
    q, k, v = (generator.standard_normal((100, 32)).astype(np.float16) for _ in range(3))
    scores = q.astype(np.float64) @ k.astype(np.float64).T / np.sqrt(32)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    wanted = (p / p.sum(axis=1, keepdims=True)) @ v.astype(np.float64)
    out = _on(device, np.zeros_like(q))
    with enceladus.device(device):
        kernels.compiled(kernels.attention)[(4,)](
            *(_on(device, x) for x in (q, k, v)), out, 100, 32**-0.5, BM=32, BN=32, WIDTH=32,
            dot_warps=(4, 1),
        )  # fmt: skip
    _close("attention", out.numpy(), wanted, 4e-3)  # weights are rounded to float16
    return "agrees at 100 x 32"


CHECKS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("conversions", conversions),
    ("NaN, infinities, signed zeros", nan_rules),
    ("integer arithmetic", integers),
    ("accuracy of functions", accuracy),
    ("math modes", math_modes),
    ("denormals", denormals),
    ("reductions and scans", rows),
    ("shapes and atomics", shapes_and_atomics),
    ("matrix products", products),
    ("attention", attention),
)
