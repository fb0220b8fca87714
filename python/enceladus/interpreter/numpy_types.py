"""Dtypes as NumPy has them, and every conversion between them (section 2.1 of the language).

Each conversion rounds once. Not here: which type an operation computes in (`promotion.py`).
"""

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import numpy.typing as npt

from enceladus.interop.dtypes import LARGEST_FLOAT8
from enceladus.interpreter.context import fail
from enceladus.language import core
from enceladus.language.core import dtype

Array: TypeAlias = npt.NDArray[Any]

_SPECIAL = {
    "int1": np.dtype(np.bool_),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float8_e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8_e5m2": np.dtype(ml_dtypes.float8_e5m2),
}
NUMPY = {
    element.name: _SPECIAL.get(element.name) or np.dtype(element.name)
    for element in core.ALL_DTYPES
}
_FROM_NUMPY = {numpy_type: dtype(name) for name, numpy_type in NUMPY.items()}


def numpy_type(element: dtype) -> np.dtype[Any]:
    """The NumPy dtype of values of `element`; offsets (int64) for a pointer."""
    return np.dtype(np.int64) if element.is_ptr() else NUMPY[element.name]


def dtype_of(numpy_dtype: np.dtype[Any]) -> dtype:
    """The dtype that a NumPy dtype stands for.

    Raises:
        TypeError: no dtype of the language stands for it.
    """
    try:
        return _FROM_NUMPY[numpy_dtype.newbyteorder("=")]
    except KeyError:
        raise TypeError(f"arrays of NumPy type {numpy_dtype} cannot be used in kernels") from None


def is_half(element: dtype) -> bool:
    """Whether arithmetic on this type computes in float32."""
    return element.is_fp16() or element.is_bf16()


def refuse_float8(element: dtype) -> None:
    """An error where a type is a float of 8 bits, in which nothing computes."""
    if element.is_fp8():
        fail(
            f"nothing computes in `{element.name}`, which is stored, converted and multiplied by "
            "`tl.dot` only",
            "convert with `.to(tl.float16)`, which holds every value of it",
        )


def computing(data: Array, element: dtype) -> Array:
    """The values in the type that arithmetic on them computes in."""
    refuse_float8(element)
    return data.astype(np.float32) if is_half(element) else data


def convert(data: Array, source: dtype, target: dtype, toward_zero: bool = False) -> Array:
    """Values of `source` as values of `target`, rounded once.

    Args:
        data: values of type `source`.
        source: their type.
        target: the type to give.
        toward_zero: truncate instead of rounding to nearest even, float to narrower float only.
    """
    if source == target:
        return data
    if target.is_bool():
        return np.asarray(data != 0)
    if source.is_int():
        return _from_integer(data, target)
    if target.is_int():
        return _saturate(data.astype(np.float64), numpy_type(target))
    return _narrow(data, target, toward_zero)


def _from_integer(data: Array, target: dtype) -> Array:
    if is_half(target) or target.is_fp8():
        return _narrow(_sticky_float64(data), target, toward_zero=False)
    return data.astype(numpy_type(target))


def _sticky_float64(data: Array) -> Array:
    """Integers as float64, the bits below 2**11 of large ones gathered into one sticky bit.

    A later rounding to 24 bits or fewer then sees on which side of a tie the integer was.
    """
    if data.dtype.itemsize < 8:
        return data.astype(np.float64)
    negative = data < 0
    size = np.where(negative, -data.view(np.int64), data.view(np.int64)).view(np.uint64)
    sticky = (size >> np.uint64(11) << np.uint64(11)) | (
        ((size & np.uint64(0x7FF)) != 0).astype(np.uint64) << np.uint64(11)
    )
    rounded = np.where(size < 2**53, size, sticky).astype(np.float64)
    return np.where(negative, -rounded, rounded)


def _saturate(data: Array, target: np.dtype[Any]) -> Array:
    limits = np.iinfo(target)
    whole = np.trunc(np.where(np.isnan(data), 0.0, data))
    inside = (whole >= float(limits.min)) & (whole < float(limits.max + 1))
    result = np.where(inside, whole, 0.0).astype(target)
    result = np.where(whole >= float(limits.max + 1), limits.max, result)
    return np.where(whole < float(limits.min), limits.min, result).astype(target)


def _narrow(data: Array, target: dtype, toward_zero: bool) -> Array:
    kind = numpy_type(target)
    if target.is_fp8():
        largest = LARGEST_FLOAT8[target.name]
        wide = data.astype(np.float32) if data.dtype.itemsize < 4 else data
        data = np.clip(wide, wide.dtype.type(-largest), wide.dtype.type(largest))
    if toward_zero:
        result = np.asarray(data.astype(kind))
        bits = result.view(f"u{kind.itemsize}")
        too_large = np.abs(result.astype(np.float64)) > np.abs(data.astype(np.float64))
        return np.where(too_large, bits - bits.dtype.type(1), bits).view(kind)
    if (target.is_bf16() or target.is_fp8()) and data.dtype == np.float64:
        return odd_float32(data).astype(kind)
    return data.astype(kind)


def odd_float32(data: Array) -> Array:
    """float64 rounded to float32 "to odd", so that rounding once more is like rounding once."""
    nearest = np.asarray(data.astype(np.float32))
    wide = nearest.astype(np.float64)
    bits = nearest.view(np.uint32)
    bits = np.where(np.abs(wide) > np.abs(data), bits - np.uint32(1), bits)
    inexact = (bits.view(np.float32).astype(np.float64) != data) & ~np.isnan(data)
    return np.where(inexact, bits | np.uint32(1), bits).view(np.float32)


def round_from_float64(data: Array, target: dtype) -> Array:
    """What a function computed exactly enough in float64 gives in `target`'s own computation.

    float16 and bfloat16 compute in float32 and round that result once more.
    """
    if is_half(target):
        data = data.astype(np.float32)
    return np.asarray(data).astype(numpy_type(target))
