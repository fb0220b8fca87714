"""Compares what a launch wrote with what a case expects, and says where and by how much."""

from typing import Any

import ml_dtypes
import numpy as np

from .case import Tolerance

_MORE_FLOATS = tuple(
    np.dtype(kind) for kind in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
)


def is_float(dtype: np.dtype) -> bool:
    """Whether NumPy or ml_dtypes has this as a float."""
    return dtype.kind == "f" or dtype in _MORE_FLOATS


def check(name: str, got: np.ndarray, want: np.ndarray, tolerance: Tolerance, signed: bool) -> None:
    """Raises AssertionError with the worst elements where `got` is not `want`."""
    assert got.shape == want.shape, f"{name}: shape {got.shape}, wanted {want.shape}"
    wrong = _wrong_floats(got, want, tolerance, signed) if is_float(got.dtype) else got != want
    if not wrong.any():
        return
    places = np.argwhere(wrong)
    shown = [f"{tuple(map(int, i))}: {got[tuple(i)]!r}, wanted {want[tuple(i)]!r}" for i in places]
    raise AssertionError(
        f"{name}: {len(places)} of {got.size} elements are wrong "
        f"(tolerance: {tolerance})\n  " + "\n  ".join(shown[:8])
    )


def _wrong_floats(
    got: np.ndarray, want: np.ndarray, tolerance: Tolerance, signed: bool
) -> np.ndarray:
    with np.errstate(all="ignore"):
        target = want.astype(got.dtype).astype(np.float64)
        result, exact = got.astype(np.float64), want.astype(np.float64)
        allowed = tolerance.relative * np.abs(exact) + tolerance.absolute
        allowed = allowed + tolerance.ulps * spacing(exact, got.dtype)
        near = np.abs(result - exact) <= allowed
        # A reference of higher precision that rounds to the very result is always near.
        near |= result == target
        finite = np.isfinite(target)
        wrong = np.where(finite, ~near, (result != target) & ~(np.isnan(result) & np.isnan(target)))
    if signed:
        wrong |= (target == 0) & (result == 0) & (np.signbit(result) != np.signbit(target))
    return wrong


def spacing(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """One unit in the last place of a float type at the magnitude of float64 values."""
    information: Any = ml_dtypes.finfo(dtype)
    magnitude = np.abs(values)
    exponent = np.floor(np.log2(np.where(magnitude > 0, magnitude, 1.0)))
    exponent = np.maximum(exponent, float(information.minexp))
    return np.exp2(exponent - information.nmant)
