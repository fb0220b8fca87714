"""Which type an operation computes in: operands, weak Python literals, broadcasting.

The rules are those of section 2 of the language; the compiler's are the same.
"""

from typing import Any

import numpy as np

from enceladus.interpreter.context import fail
from enceladus.interpreter.numpy_types import Array, convert, dtype_of, numpy_type
from enceladus.interpreter.values import Value, describe
from enceladus.language import core
from enceladus.language.core import dtype, unwrap


def literal_type(value: int | float) -> dtype:
    """The type of a Python number that meets no typed operand."""
    if isinstance(value, bool):
        return core.int1
    if isinstance(value, float):
        return core.float32
    for candidate in (core.int32, core.int64, core.uint64):
        if fits(value, candidate):
            return candidate
    fail(f"the integer {value} does not fit in 64 bits")


def fits(value: int, element: dtype) -> bool:
    """Whether an integer is a value of an integer type."""
    if element.is_bool():
        return value in (0, 1)
    limits = np.iinfo(numpy_type(element))
    return bool(limits.min <= value <= limits.max)


def weak_type(value: int | float, other: dtype, keep_bool: bool) -> dtype:
    """The type that a Python number takes beside an operand of type `other`.

    Args:
        value: the number.
        other: the operand's type.
        keep_bool: whether 0 and 1 stay int1 beside an int1, as in bitwise operations.
    """
    if isinstance(value, bool):
        return core.int1
    if other.is_floating():
        return other
    if isinstance(value, int) and fits(value, other) and (keep_bool or not other.is_bool()):
        return other
    return literal_type(value)


def common_type(left: dtype, right: dtype, keep_bool: bool = False) -> dtype:
    """The type in which two typed operands meet."""
    if left.is_ptr() or right.is_ptr():
        fail(f"an operation on {describe_type(left)} and {describe_type(right)} does not exist")
    if left.is_floating() or right.is_floating():
        return _common_float(left, right)
    if left.is_bool() and right.is_bool():
        return core.int1 if keep_bool else core.int32
    if left.is_bool() or right.is_bool():
        return right if left.is_bool() else left
    if left.is_int_signed() == right.is_int_signed():
        return left if left.primitive_bitwidth >= right.primitive_bitwidth else right
    signed, unsigned = (left, right) if left.is_int_signed() else (right, left)
    return unsigned if unsigned.primitive_bitwidth >= signed.primitive_bitwidth else signed


def _common_float(left: dtype, right: dtype) -> dtype:
    if not right.is_floating():
        return left
    if not left.is_floating():
        return right
    if left.is_fp8() and right.is_fp8():
        return left if left == right else core.float16
    if left != right and left.primitive_bitwidth == right.primitive_bitwidth:
        return core.float32
    return left if left.primitive_bitwidth >= right.primitive_bitwidth else right


def describe_type(element: dtype) -> str:
    """A type as messages name it."""
    return f"`{element.name}`"


def is_number(value: object) -> bool:
    """Whether this is a Python number, which has no type of its own yet."""
    return isinstance(value, (bool, int, float)) and not isinstance(value, np.generic)


def typed(value: Any) -> Any:
    """Strips `constexpr`; a NumPy scalar in a kernel is the Python number it holds."""
    value = unwrap(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Value) or is_number(value):
        return value
    fail(f"{value!r} of type `{type(value).__name__}` is no number, tile or pointer")


def to_value(operand: Any, element: dtype | None = None) -> Value:
    """A value of an operand; a Python number takes `element`, or its own type."""
    operand = typed(operand)
    if isinstance(operand, Value):
        return operand
    own = literal_type(operand)
    if element is None:
        return Value(_number(operand, own), own)
    return Value(_number(operand, element), element)


def _number(value: int | float, element: dtype) -> Array:
    if isinstance(value, float) and element.is_int():
        return convert(np.asarray(value), core.float64, element)
    if element.is_bool():
        return np.asarray(value != 0)
    if element.is_int() and not fits(int(value), element):
        return convert(_number(value, literal_type(value)), literal_type(value), element)
    if element.is_floating():
        exact = np.asarray(value)
        if exact.dtype == object:
            return np.asarray(float(value)).astype(numpy_type(element))
        return convert(exact, dtype_of(exact.dtype), element)
    return np.asarray(value, dtype=numpy_type(element))


def promote(*operands: Any, keep_bool: bool = False) -> tuple[list[Value], dtype]:
    """The operands converted to their common type, and that type; shapes as they were."""
    known = [typed(operand) for operand in operands]
    values = [operand for operand in known if isinstance(operand, Value)]
    if not values:
        known = [to_value(operand) for operand in known]
        values = known
    strong = values[0].dtype
    for value in values[1:]:
        strong = common_type(strong, value.dtype, keep_bool=True)
    result = strong
    for operand in known:
        own = operand.dtype if isinstance(operand, Value) else None
        own = weak_type(operand, strong, keep_bool) if own is None else own
        result = common_type(result, own, keep_bool=True)
    if result.is_bool() and not keep_bool:
        result = core.int32
    return [cast_value(to_value(operand, result), result) for operand in known], result


def cast_value(value: Value, target: dtype) -> Value:
    """A value converted to another type; an integer keeps its unlimited shadow when it widens."""
    if value.dtype == target:
        return value
    if value.dtype.is_ptr() or target.is_ptr():
        fail(f"{describe(value)} cannot be converted to {describe_type(target)}")
    widens = (
        value.dtype.is_int()
        and target.is_int()
        and target.primitive_bitwidth >= value.dtype.primitive_bitwidth
    )
    data = convert(value.data, value.dtype, target)
    exact = value.exact
    if widens and exact is None and value.dtype.is_int_signed() and target.is_int_unsigned():
        # A negative number that an unsigned type takes in wraps, and its shadow does not.
        exact = value.data.astype(np.int64) if bool((value.data < 0).any()) else None
    return Value(data, target, exact if widens else None)


def common_shape(values: list[Value]) -> tuple[int, ...]:
    """The shape that values broadcast to, by NumPy's rule."""
    try:
        return np.broadcast_shapes(*(value.shape for value in values))
    except ValueError:
        shapes = " and ".join(str(value.shape) for value in values)
        fail(f"shapes {shapes} do not broadcast")
