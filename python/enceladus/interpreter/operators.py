"""The operators on values: arithmetic, bitwise, comparison, and pointer offsets.

Rounding and wrapping follow section 2.1 of the language. Integer arithmetic also keeps the
values of unlimited precision (`Value.exact`), because offsets that reach a pointer never wrap.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from enceladus.interpreter.context import fail
from enceladus.interpreter.numpy_types import Array, computing, numpy_type, refuse_float8
from enceladus.interpreter.promotion import (
    cast_value,
    common_shape,
    is_number,
    promote,
    to_value,
    typed,
)
from enceladus.interpreter.values import TABLE, Value, describe
from enceladus.language import core
from enceladus.language.core import dtype, unwrap

Operation = Callable[[Array, Array], Array]


def truncating_divide(left: Array, right: Array) -> Array:
    """Integer quotient rounded toward zero; wraps, and gives 0 for a divisor of 0."""
    floor = np.floor_divide(left, right)
    remainder = left - floor * right
    upward = (remainder != 0) & ((left < 0) != (right < 0)) & (right != 0)
    return np.asarray(floor + upward.astype(floor.dtype))


def truncating_remainder(left: Array, right: Array) -> Array:
    """The remainder with the sign of `left`; `left` itself for a divisor of 0."""
    return np.asarray(left - truncating_divide(left, right) * right)


def _shift(function: Operation) -> Operation:
    def shifted(left: Array, right: Array) -> Array:
        width = 8 * right.dtype.itemsize
        return function(left, (right & right.dtype.type(width - 1)).astype(left.dtype))

    return shifted


# On integers. The same function computes on the int64 shadow.
INTEGER: dict[str, Operation] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "floordiv": truncating_divide,
    "mod": truncating_remainder,
    "lshift": _shift(np.left_shift),
    "rshift": _shift(np.right_shift),
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
FLOAT: dict[str, Operation] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "mod": np.fmod,
}
SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "lshift": "<<",
    "rshift": ">>",
    "and": "&",
    "or": "|",
    "xor": "^",
}
BITWISE = ("and", "or", "xor")
# Integer operations whose unlimited result an offset may need.
CHAIN = ("add", "sub", "mul", "floordiv", "mod", "lshift")


def binary(name: str, left: Any, right: Any) -> Value:
    """One of the operators of `SYMBOLS`, but comparisons and `**`."""
    left, right = typed(left), typed(right)
    if _is_pointer(left) or _is_pointer(right):
        return _offset(name, left, right)
    if name in ("lshift", "rshift"):
        _check_shift(left, right)
    values, element = promote(left, right, keep_bool=name in BITWISE)
    if name == "truediv" and element.is_int():
        values, element = [cast_value(value, core.float32) for value in values], core.float32
    common_shape(values)
    if element.is_int():
        return integer_result(INTEGER[name], values, element, chain=name in CHAIN)
    if name not in FLOAT:
        fail(f"`{SYMBOLS[name]}` does not take `{element.name}` values")
    return float_result(FLOAT[name], values, element)


def integer_result(
    function: Operation, values: list[Value], element: dtype, chain: bool = True
) -> Value:
    """Applies an integer operation, with the shadow of unlimited precision where it differs."""
    data = np.asarray(function(values[0].data, values[1].data)).astype(numpy_type(element))
    if not chain or element.is_bool():
        return Value(data, element)
    shadowed = any(value.exact is not None for value in values)
    if element.primitive_bitwidth == 64 and not shadowed:
        return Value(data, element)
    exact = np.asarray(function(values[0].unlimited(), values[1].unlimited()))
    differs = bool((exact != data.astype(np.int64)).any())
    return Value(data, element, exact if differs else None)


def float_result(function: Operation, values: list[Value], element: dtype) -> Value:
    """Applies a float operation in the type it computes in, and rounds the result once."""
    operands = [computing(value.data, element) for value in values]
    return Value(np.asarray(function(*operands)).astype(numpy_type(element)), element)


def _is_pointer(operand: Any) -> bool:
    return isinstance(operand, Value) and operand.dtype.is_ptr()


def _offset(name: str, left: Any, right: Any) -> Value:
    if _is_pointer(right) and name == "add":
        left, right = right, left
    if name not in ("add", "sub") or not _is_pointer(left) or _is_pointer(right):
        fail(f"`{SYMBOLS[name]}` does not take pointers but as `pointer + integer` or `- integer`")
    offset = to_value(right)
    if not offset.dtype.is_int():
        fail(f"a pointer takes an integer offset, not a {describe(offset)}")
    common_shape([left, offset])
    amount = offset.unlimited()
    data = left.data + amount if name == "add" else left.data - amount
    return Value(data, left.dtype, None, left.memory)


def _check_shift(left: Any, right: Any) -> None:
    if not is_number(right):
        return
    width = max(left.dtype.primitive_bitwidth, 32 if left.dtype.is_bool() else 0)
    if isinstance(right, float):
        fail("`<<` and `>>` take integers")
    if not 0 <= right < width:
        fail(f"a shift of `{left.dtype.name}` by {right} is outside 0 to {width - 1}")


COMPARISONS: dict[str, Any] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def compare(name: str, left: Any, right: Any) -> Value | bool:
    """A comparison, element by element; false with NaN but for `!=`. None equals no value."""
    if unwrap(left) is None or unwrap(right) is None:
        return name == "ne"
    left, right = typed(left), typed(right)
    if _is_pointer(left) or _is_pointer(right):
        return _compare_pointers(name, left, right)
    values, element = promote(left, right, keep_bool=True)
    common_shape(values)
    operands = [computing(value.data, element) for value in values]
    return Value(COMPARISONS[name](*operands), core.int1)


def _compare_pointers(name: str, left: Any, right: Any) -> Value:
    """Pointers compare by their addresses."""
    if not _is_pointer(left) or not _is_pointer(right) or left.dtype != right.dtype:
        fail("a pointer compares with a pointer of its own type only")
    common_shape([left, right])
    addresses = (
        value.memory.address + value.data * value.memory.itemsize for value in (left, right)
    )
    return Value(COMPARISONS[name](*addresses), core.int1)


def power(base: Any, exponent: Any) -> Value:
    """`base ** exponent` for a constant integer, by squaring from the lowest bit."""
    exponent = unwrap(exponent)
    if not isinstance(exponent, int) or not isinstance(base, Value):
        fail("`**` takes a constant integer exponent", "use `tl.exp2(y * tl.log2(x))`")
    refuse_float8(base.dtype)
    if exponent < 0:
        if not base.dtype.is_floating():
            fail("`**` of an integer takes an exponent of 0 or more")
        return binary("truediv", 1.0, power(base, -exponent))
    if base.dtype.is_bool():
        base = cast_value(base, core.int32)
    result: Value | None = None
    square = base
    while exponent:
        if exponent & 1:
            result = square if result is None else binary("mul", result, square)
        exponent >>= 1
        square = binary("mul", square, square) if exponent else square
    if result is None:
        one = np.ones(base.shape, numpy_type(base.dtype))
        return Value(one, base.dtype)
    return result


def negate(value: Value) -> Value:
    """`-x`; integers wrap, int1 becomes int32."""
    if value.dtype.is_ptr():
        fail("`-` does not take pointers")
    if value.dtype.is_int():
        return binary("sub", 0, value)
    refuse_float8(value.dtype)
    return Value(np.negative(value.data), value.dtype)


def invert(value: Value) -> Value:
    """`~x`: all bits flipped; for int1 the logical not."""
    if not value.dtype.is_int():
        fail(f"`~` does not take a {describe(value)}")
    return Value(np.invert(value.data), value.dtype)


for _name in SYMBOLS:
    TABLE[f"operator {_name}"] = lambda left, right, name=_name: binary(name, left, right)
for _name in "eq ne lt le gt ge".split():
    TABLE[f"operator {_name}"] = lambda left, right, name=_name: compare(name, left, right)
TABLE["operator pow"] = power
TABLE["operator neg"] = negate
TABLE["operator pos"] = lambda value: value
TABLE["operator invert"] = invert
