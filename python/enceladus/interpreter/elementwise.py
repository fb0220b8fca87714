"""Elementwise builtins beyond the operators: selection, extrema, conversion and math.

float32 functions are computed in float64 and rounded, so that they err by less than any target
may; float16 and bfloat16 compute in float32 and round once more.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from enceladus.interpreter.context import fail
from enceladus.interpreter.numpy_types import (
    Array,
    convert,
    numpy_type,
    refuse_float8,
    round_from_float64,
)
from enceladus.interpreter.operators import float_result, integer_result
from enceladus.interpreter.promotion import cast_value, common_shape, promote, to_value
from enceladus.interpreter.values import TABLE, Value, describe
from enceladus.language.core import PropagateNan, dtype, unwrap


def where(condition: Any, x: Any, y: Any) -> Value:
    chosen = to_value(condition)
    x, y = unwrap(x), unwrap(y)
    if isinstance(x, Value) and x.dtype.is_ptr():
        return _where_pointers(chosen, x, y)
    values, element = promote(x, y, keep_bool=True)
    common_shape([chosen, *values])
    taken = chosen.data != 0
    exact = None
    if any(value.exact is not None for value in values):
        exact = np.where(taken, values[0].unlimited(), values[1].unlimited())
    return Value(np.where(taken, values[0].data, values[1].data), element, exact)


def _where_pointers(condition: Value, x: Value, y: Any) -> Value:
    if not isinstance(y, Value) or y.memory is not x.memory or y.dtype != x.dtype:
        fail("`tl.where` between pointers takes two pointers into one array")
    return Value(np.where(condition.data != 0, x.data, y.data), x.dtype, None, x.memory)


def _extremum(ignoring: Any, propagating: Any, x: Any, y: Any, nan: PropagateNan) -> Value:
    values, element = promote(x, y, keep_bool=True)
    common_shape(values)
    if element.is_int():
        return integer_result(propagating, values, element)
    return float_result(
        propagating if unwrap(nan) is PropagateNan.ALL else ignoring, values, element
    )


def maximum(x: Any, y: Any, propagate_nan: PropagateNan = PropagateNan.NONE) -> Value:
    return _extremum(np.fmax, np.maximum, x, y, propagate_nan)


def minimum(x: Any, y: Any, propagate_nan: PropagateNan = PropagateNan.NONE) -> Value:
    return _extremum(np.fmin, np.minimum, x, y, propagate_nan)


def clamp(x: Any, min: Any, max: Any, propagate_nan: PropagateNan = PropagateNan.NONE) -> Value:
    values, element = promote(x, min, max)
    if not element.is_floating():
        fail(f"`tl.clamp` takes floats, not `{element.name}`")
    return minimum(maximum(values[0], values[1], propagate_nan), values[2], propagate_nan)


def absolute(x: Any) -> Value:
    value = to_value(x)
    if value.dtype.is_ptr():
        fail("`tl.abs` does not take pointers")
    refuse_float8(value.dtype)
    return Value(np.abs(value.data), value.dtype)


def fma(x: Any, y: Any, z: Any) -> Value:
    values, element = promote(x, y, z)
    if not element.is_floating():
        fail(f"`tl.fma` takes floats, not `{element.name}`")
    refuse_float8(element)
    common_shape(values)
    a, b, c = np.broadcast_arrays(*(value.data for value in values))
    if element.is_fp64():
        return Value(_fused_float64(a, b, c), element)
    return Value(_fused_float32(a, b, c).astype(numpy_type(element)), element)


def _fused_float32(a: Array, b: Array, c: Array) -> Array:
    """float32 `a * b + c` rounded once: the product is exact in float64, the sum rounds to odd."""
    product = a.astype(np.float64) * b.astype(np.float64)
    addend = c.astype(np.float64)
    total = np.asarray(product + addend)
    shadow = total - product
    error = (product - (total - shadow)) + (addend - shadow)
    even = (total.view(np.uint64) & np.uint64(1)) == 0
    adjust = np.isfinite(error) & (error != 0) & even
    odd = np.where(adjust, np.nextafter(total, np.copysign(np.inf, error)), total)
    return odd.astype(np.float32)


def _fused_float64(a: Array, b: Array, c: Array) -> Array:
    def one(x: float, y: float, z: float) -> float:
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
            return x * y + z
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        if exact == 0:
            return x * y + z
        try:
            return float(exact)
        except OverflowError:
            return math.inf if exact > 0 else -math.inf

    return np.asarray(np.vectorize(one, otypes=[np.float64])(a, b, c))


def div_rn(x: Any, y: Any) -> Value:
    values, element = promote(x, y)
    if not element.is_floating():
        fail(f"`tl.div_rn` takes floats, not `{element.name}`")
    common_shape(values)
    return float_result(np.true_divide, values, element)


def umulhi(x: Any, y: Any) -> Value:
    values, element = promote(x, y)
    if not element.is_int() or element.primitive_bitwidth < 32:
        fail(f"`tl.umulhi` takes 32- and 64-bit integers, not `{element.name}`")
    common_shape(values)
    bits = element.primitive_bitwidth
    left, right = (value.data.view(f"u{bits // 8}").astype(np.uint64) for value in values)
    high = left * right >> np.uint64(32) if bits == 32 else _high_64(left, right)
    return Value(np.asarray(high).astype(f"u{bits // 8}").view(numpy_type(element)), element)


def _high_64(left: Array, right: Array) -> Array:
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a, b, c, d = left >> half, left & low, right >> half, right & low
    middle = (b * d >> half) + (a * d & low) + (b * c & low)
    return np.asarray(a * c + (a * d >> half) + (b * c >> half) + (middle >> half))


def cast(
    input: Any, dtype: dtype, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> Value:
    value, target = to_value(input), _dtype(dtype)
    rounding, bits = unwrap(fp_downcast_rounding), unwrap(bitcast)
    if rounding not in (None, "rtne", "rtz"):
        fail(f'fp_downcast_rounding is "rtne" or "rtz", not {rounding!r}')
    if bits:
        return _bitcast(value, target)
    narrows = value.dtype.is_floating() and target.is_floating()
    if rounding and not (narrows and target.primitive_bitwidth < value.dtype.primitive_bitwidth):
        fail(f"fp_downcast_rounding does not apply from `{value.dtype.name}` to `{target.name}`")
    if rounding == "rtz":
        return Value(convert(value.data, value.dtype, target, toward_zero=True), target)
    return cast_value(value, target)


def _dtype(candidate: Any) -> dtype:
    candidate = unwrap(candidate)
    if not isinstance(candidate, dtype):
        fail(f"a dtype such as `tl.float32` is wanted, not {candidate!r}")
    return candidate


def _bitcast(value: Value, target: dtype) -> Value:
    if value.dtype == target:
        return value
    if value.dtype.primitive_bitwidth != target.primitive_bitwidth or value.dtype.is_ptr():
        fail(f"a bitcast from `{value.dtype.name}` to `{target.name}` changes the width")
    return Value(value.data.view(numpy_type(target)), target)


def _reciprocal_root(x: Array) -> Array:
    return np.true_divide(1.0, np.sqrt(x))


def _error_function(x: Array) -> Array:
    return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x))


MATH: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sqrt": np.sqrt,
    "sqrt_rn": np.sqrt,
    "rsqrt": _reciprocal_root,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "erf": _error_function,
    "floor": np.floor,
    "ceil": np.ceil,
}


def _math(name: str) -> Callable[[Any], Value]:
    def function(x: Any) -> Value:
        value = to_value(x)
        if not value.dtype.is_floating():
            hint = "convert with `.to(tl.float32)`"
            fail(f"`tl.{name}` takes floats, not a {describe(value)}", hint)
        refuse_float8(value.dtype)
        result = MATH[name](value.data.astype(np.float64))
        return Value(round_from_float64(result, value.dtype), value.dtype)

    return function


for _name in MATH:
    TABLE[_name] = _math(_name)
TABLE.update(
    where=where,
    maximum=maximum,
    minimum=minimum,
    clamp=clamp,
    abs=absolute,
    fma=fma,
    div_rn=div_rn,
    umulhi=umulhi,
    cast=cast,
)
