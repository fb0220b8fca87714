"""Helpers for functions that take arrays of any library alike."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from enceladus import arrays
from enceladus.interop.dtypes import dtype_name, numpy_dtype

__all__ = ["element_dtype", "element_strides", "new_empty", "new_zeros"]


def element_dtype(x: Any) -> Any:
    """The `tl` dtype of an array's elements.

    Example:
        >>> enceladus.element_dtype(numpy.zeros(3, "float16"))
        tl.float16
    """
    arrays.check_array("element_dtype", x)
    return arrays.language_dtype(dtype_name(x.dtype))


def element_strides(x: Any) -> tuple[int, ...]:
    """Strides of an array, counted in elements.

    Raises:
        TypeError: the object shows no strides.
        ValueError: a stride is no multiple of the element size.
    """
    strides = getattr(x, "strides", None)
    if isinstance(x, arrays.Tensor):
        return x.strides
    if callable(getattr(x, "stride", None)):
        return tuple(int(stride) for stride in x.stride())
    if is_mlx(x):  # kernels see them in C order
        return tuple(math.prod(x.shape[axis + 1 :]) for axis in range(len(x.shape)))
    if strides is None:
        raise TypeError(f"an object of type {type(x).__name__} shows no strides")
    size = int(x.dtype.itemsize)
    if any(stride % size for stride in strides):
        raise ValueError(f"the strides {strides} are no multiples of the element size {size}")
    return tuple(int(stride) // size for stride in strides)


def new_empty(like: Any, shape: Any = None, dtype: Any = None) -> Any:
    """An array of the library and device of `like`, its elements undefined.

    Args:
        like: a Tensor, a NumPy array, a PyTorch tensor or an MLX array.
        shape: an int or a tuple; the shape of `like` where it is None.
        dtype: anything that `enceladus.empty` takes; that of `like` where it is None.

    Raises:
        TypeError: `like` belongs to a library that has no arrays to write to.
    """
    return _new(like, shape, dtype, "empty")


def new_zeros(like: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The same as `new_empty`, filled with zeros."""
    return _new(like, shape, dtype, "zeros")


def _new(like: Any, shape: Any, dtype: Any, fill: str) -> Any:
    arrays.check_array(f"new_{fill}", like)
    extents = tuple(like.shape) if shape is None else arrays.shape_tuple(shape)
    if isinstance(like, arrays.Tensor):
        create = getattr(arrays, fill)
        return create(extents, dtype=dtype or like.dtype, device=like.device)
    if isinstance(like, np.ndarray):
        create = getattr(np, fill)
        return create(extents, like.dtype if dtype is None else numpy_dtype(dtype))
    if is_mlx(like):
        mx = sys.modules["mlx.core"]  # which has no arrays of undefined elements
        chosen = like.dtype if dtype is None else getattr(mx, mlx_name(dtype))
        return mx.zeros(extents, chosen)
    create = getattr(like, f"new_{fill}", None)
    if create is None:
        raise TypeError(
            f"cannot make an array like a {type(like).__module__}.{type(like).__name__}"
        )
    return create(extents, dtype=_torch_dtype(like, dtype))


def is_mlx(x: Any) -> bool:
    """Whether an object is an MLX array."""
    mx = sys.modules.get("mlx.core")
    return mx is not None and isinstance(x, mx.array)


def mlx_name(dtype: Any) -> str:
    """MLX's name of a dtype."""
    name = dtype_name(dtype)
    return "bool_" if name == "int1" else name


def _torch_dtype(like: Any, dtype: Any) -> Any:
    if dtype is None:
        return like.dtype
    name = dtype_name(dtype)
    return getattr(sys.modules["torch"], "bool" if name == "int1" else name)
