"""`assert_close`: do two arrays agree, within what their dtypes allow."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

__all__ = ["assert_close"]

Tolerance = float | Callable[[Any], float] | None

# Relative to the larger magnitudes of a result: a few roundings of each dtype. Integers and bools
# agree exactly.
_DEFAULTS = {
    "float64": 1e-12,
    "float32": 1e-5,
    "float16": 2e-3,
    "bfloat16": 1.6e-2,
    "float8_e4m3fn": 0.125,
    "float8_e5m2": 0.25,
}
# Those that torch has and NumPy has not, with the integers that hold their bits.
_BITS = {"bfloat16": "int16", "float8_e4m3fn": "int8", "float8_e5m2": "int8"}


def to_numpy(value: Any) -> npt.NDArray[Any]:
    """A NumPy array of any array kind (Tensor, PyTorch, bfloat16 included), list or number."""
    kind = type(value).__module__.partition(".")[0]
    if kind == "torch":
        host = value.detach().cpu()
        name = str(host.dtype).removeprefix("torch.")
        if name in _BITS:
            bits = host.contiguous().view(getattr(importlib.import_module("torch"), _BITS[name]))
            return np.asarray(bits.numpy().view(getattr(ml_dtypes, name)))
        return np.asarray(host.numpy())
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def _tolerance(given: Tolerance, dtypes: tuple[np.dtype[Any], np.dtype[Any]]) -> float:
    if callable(given):
        return given(dtypes[0])
    if given is not None:
        return given
    return max(_DEFAULTS.get(dtype.name, 0.0) for dtype in dtypes)


def _widen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Narrow floats to float32, so that differences are computed without rounding."""
    return array.astype(np.float32) if array.dtype.name in ("float16", *_BITS) else array


def assert_close(
    x: Any,
    y: Any,
    atol: Tolerance = None,
    rtol: Tolerance = None,
    err_msg: str = "",
) -> None:
    """Raises unless `x` and `y` have one shape and agree element by element.

    Elements agree where `|x - y| <= atol + rtol * |y|`, where both are NaN, or where they are the
    same infinity.

    Args:
        x: any array, or a number.
        y: what `x` should be.
        atol: absolute tolerance, or a function of `x`'s dtype. By default what the coarser of the
            two dtypes allows: 1e-12 for float64, 1e-5 float32, 2e-3 float16, 1.6e-2 bfloat16,
            0.125 float8_e4m3fn, 0.25 float8_e5m2, and 0 where both are integers.
        rtol: relative tolerance, in the same way.
        err_msg: put in front of the message.

    Raises:
        AssertionError: they differ; the message says where, and by how much.

    Example:
        >>> enceladus.testing.assert_close(np.float32([1, 2]), np.float32([1, 2.000001]))
    """
    left, right = to_numpy(x), to_numpy(y)
    if left.ndim and right.ndim and left.shape != right.shape:
        raise AssertionError(f"{err_msg} shapes differ: {left.shape} and {right.shape}".lstrip())
    if left.dtype.kind in "iub" and right.dtype.kind in "iub" and atol is None and rtol is None:
        np.testing.assert_array_equal(left, right, err_msg=err_msg)
        return
    dtypes = (left.dtype, right.dtype)
    np.testing.assert_allclose(
        _widen(left),
        _widen(right),
        rtol=_tolerance(rtol, dtypes),
        atol=_tolerance(atol, dtypes),
        equal_nan=True,
        err_msg=err_msg,
    )
