"""Names of dtypes: from whatever a user passes as `dtype=`, and to NumPy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

__all__ = ["DTYPE_NAMES", "LARGEST_FLOAT8", "dtype_name", "numpy_dtype", "storable"]

DTYPE_NAMES = (
    "int1",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float8_e4m3fn",
    "float8_e5m2",
    "float16",
    "bfloat16",
    "float32",
    "float64",
)

# What NumPy and PyTorch call them besides our own names.
_ALIASES = {
    "bool": "int1",
    "bool_": "int1",
    "half": "float16",
    "float": "float32",
    "float8e4nv": "float8_e4m3fn",
    "float8e5": "float8_e5m2",
}

# Of which ml_dtypes has the NumPy dtype.
_ML_DTYPES = ("float8_e4m3fn", "float8_e5m2", "bfloat16")

# The largest finite values, at which conversions saturate.
LARGEST_FLOAT8 = {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}


def dtype_name(dtype: Any) -> str:
    """Our name of a dtype: a string, NumPy's dtype or type, `tl`'s, torch's or MLX's.

    Python's `bool`, `int` and `float` mean int1, int32 and float32, as in a kernel.

    Raises:
        TypeError: it is no dtype that kernels have; the message lists those.
    """
    if isinstance(dtype, str):
        if dtype in DTYPE_NAMES:
            return dtype
        found = _ALIASES.get(dtype)
    elif isinstance(dtype, type) and dtype in (bool, int, float):
        found = {bool: "int1", int: "int32", float: "float32"}[dtype]
    elif isinstance(dtype, np.dtype) or (isinstance(dtype, type) and issubclass(dtype, np.generic)):
        found = _from_numpy(np.dtype(dtype))
    else:
        # `tl.float32` has a name; `torch.float32` and `mlx.core.float32` print as their own.
        text = getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]
        found = _ALIASES.get(text, text) if text in DTYPE_NAMES or text in _ALIASES else None
    if found is None:
        raise TypeError(f"{dtype!r} is no dtype of a tensor; there are {', '.join(DTYPE_NAMES)}")
    return found


def _from_numpy(dtype: np.dtype[Any]) -> str | None:
    name = _ALIASES.get(str(dtype.name), str(dtype.name))
    return name if name in DTYPE_NAMES and dtype.isnative else None


@functools.cache
def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype of anything that `dtype_name` takes; ml_dtypes' for bfloat16 and float8."""
    name = dtype_name(dtype)
    if name in _ML_DTYPES:
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return found
    return np.dtype("bool" if name == "int1" else name)


def storable(values: Any, dtype: Any) -> Any:
    """What to assign to an array of a dtype: for float8, values that saturate as in kernels."""
    target = numpy_dtype(dtype)
    array = np.asarray(values) if target.name.startswith("float8") else None
    if array is None or array.dtype == target:
        return values
    largest = LARGEST_FLOAT8[target.name]
    return np.clip(array.astype(np.float32), -largest, largest).astype(target)
