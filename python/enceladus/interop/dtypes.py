"""Names of dtypes: from whatever a user passes as `dtype=`, and to NumPy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

__all__ = ["DTYPE_NAMES", "dtype_name", "numpy_dtype"]

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
    "float16",
    "bfloat16",
    "float32",
    "float64",
)

# What NumPy and PyTorch call them besides our own names.
_ALIASES = {"bool": "int1", "bool_": "int1", "half": "float16", "float": "float32"}


def dtype_name(dtype: Any) -> str:
    """Our name of a dtype given as a string, a NumPy dtype or type, a `tl` or a torch dtype.

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
        # `tl.float32` has a name; `torch.float32` prints as its own.
        text = getattr(dtype, "name", None) or str(dtype).rpartition("torch.")[2]
        found = _ALIASES.get(text, text) if text in DTYPE_NAMES or text in _ALIASES else None
    if found is None:
        raise TypeError(f"{dtype!r} is no dtype of a tensor; there are {', '.join(DTYPE_NAMES)}")
    return found


def _from_numpy(dtype: np.dtype[Any]) -> str | None:
    name = _ALIASES.get(str(dtype.name), str(dtype.name))
    return name if name in DTYPE_NAMES and dtype.isnative else None


@functools.cache
def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype of anything that `dtype_name` takes; `ml_dtypes.bfloat16` for bfloat16."""
    name = dtype_name(dtype)
    if name == "bfloat16":
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return found
    return np.dtype("bool" if name == "int1" else name)
