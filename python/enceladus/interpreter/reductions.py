"""Reductions and scans along an axis of a tile."""

from collections.abc import Callable
from typing import Any

import numpy as np

from enceladus.interpreter.context import TileConditionError, fail
from enceladus.interpreter.numpy_types import Array, computing, convert, is_half, numpy_type
from enceladus.interpreter.promotion import cast_value, to_value
from enceladus.interpreter.shapes import normal_axis
from enceladus.interpreter.values import TABLE, Value, describe
from enceladus.language import core
from enceladus.language.core import unwrap

Combine = Callable[[list[Value], list[Value]], list[Value]]


def _prepared(value: Value, axis: Any) -> tuple[Value, int, tuple[int, ...]]:
    """The tile (flat when the axis is None), the axis, and the shape with that axis kept."""
    if unwrap(axis) is None:
        kept = (1,) * len(value.shape)
        return value.reshaped(lambda data: data.reshape(-1)), 0, kept
    number = normal_axis(axis, len(value.shape))
    kept = tuple(1 if i == number else extent for i, extent in enumerate(value.shape))
    return value, number, kept


def _finish(value: Value, axis: int, kept: tuple[int, ...], keep_dims: Any) -> Value:
    """Drops the reduced axis, of extent 1, or gives the shape with it kept."""
    if unwrap(keep_dims):
        return value.reshaped(lambda data: data.reshape(kept))
    return value.reshaped(lambda data: np.squeeze(data, axis))


def _sliced(values: list[Value], axis: int, part: slice) -> list[Value]:
    keys = (slice(None),) * axis + (part,)
    return [Value(value.data[keys], value.dtype) for value in values]


def _tree(values: list[Value], axis: int, combine: Combine) -> list[Value]:
    """Combines neighbours until one is left, which keeps their order."""
    while values[0].shape[axis] > 1:
        values = combine(
            _sliced(values, axis, slice(0, None, 2)), _sliced(values, axis, slice(1, None, 2))
        )
    return values


def _combiner(function: Callable[..., Any], values: list[Value]) -> Combine:
    """The user's function on lists of values, its results checked against the operands."""

    def call(operands: list[Value]) -> list[Value]:
        results = function(*operands)
        listed = list(results) if isinstance(results, (tuple, list)) else [results]
        if len(listed) != len(values):
            fail(f"combine_fn gives {len(listed)} values for {len(values)}")
        typed = [
            to_value(result, value.dtype) for result, value in zip(listed, values, strict=True)
        ]
        for result, value in zip(typed, values, strict=True):
            if result.dtype != value.dtype:
                fail(f"combine_fn gives `{result.dtype.name}` for `{value.dtype.name}`")
        return typed

    def combine(left: list[Value], right: list[Value]) -> list[Value]:
        shape = left[0].shape
        try:
            typed = call([*left, *right])
        except TileConditionError:
            return _one_by_one(call, [*left, *right])
        return [value.reshaped(lambda data: np.broadcast_to(data, shape).copy()) for value in typed]

    return combine


def _one_by_one(call: Callable[[list[Value]], list[Value]], operands: list[Value]) -> list[Value]:
    """A function with branches on its arguments: the compiler calls it on scalars."""
    shape = operands[0].shape
    rows = [
        call([Value(operand.data[index], operand.dtype) for operand in operands])
        for index in np.ndindex(shape)
    ]
    return [
        Value(np.array([value.data for value in column]).reshape(shape), column[0].dtype)
        for column in zip(*rows, strict=True)
    ]


def _operands(input: Any) -> list[Value]:
    listed = [to_value(one) for one in (input if isinstance(input, (tuple, list)) else [input])]
    if len({value.shape for value in listed}) != 1:
        fail("the tiles of a tuple have one shape")
    return listed


def reduce(input: Any, axis: Any, combine_fn: Callable[..., Any], keep_dims: bool = False) -> Any:
    values = _operands(input)
    prepared = [_prepared(value, axis) for value in values]
    _, number, kept = prepared[0]
    combine = _combiner(unwrap(combine_fn), values)
    results = _tree([value for value, _, _ in prepared], number, combine)
    finished = tuple(_finish(result, number, kept, keep_dims) for result in results)
    return finished if isinstance(input, (tuple, list)) else finished[0]


def _widened(input: Any, element: Any) -> Value:
    """The operand of a sum: converted to `element`, small integers and int1 to int32."""
    value = to_value(input)
    if unwrap(element) is not None:
        return cast_value(value, unwrap(element))
    if value.dtype.is_int() and value.dtype.primitive_bitwidth < 32:
        return cast_value(value, core.int32)
    return value


def _accumulate(value: Value, axis: int, function: Any) -> Value:
    """A tree of a NumPy operation; float16 and bfloat16 accumulate in float32, and round once."""
    wide = Value(computing(value.data, value.dtype), _computing_type(value.dtype))

    def combine(left: list[Value], right: list[Value]) -> list[Value]:
        return [Value(function(left[0].data, right[0].data), wide.dtype)]

    result = _tree([wide], axis, combine)[0]
    return Value(convert(result.data, result.dtype, value.dtype), value.dtype)


def _computing_type(element: core.dtype) -> core.dtype:
    return core.float32 if is_half(element) else element


def _reduced(input: Any, axis: Any, keep_dims: Any, function: Any) -> Value:
    value, number, kept = _prepared(input, axis)
    return _finish(_accumulate(value, number, function), number, kept, keep_dims)


def sum(input: Any, axis: Any = None, keep_dims: bool = False, dtype: Any = None) -> Value:
    return _reduced(_widened(input, dtype), axis, keep_dims, np.add)


def xor_sum(input: Any, axis: Any = None, keep_dims: bool = False) -> Value:
    value = to_value(input)
    if not value.dtype.is_int():
        fail(f"`tl.xor_sum` takes integers, not a {describe(value)}")
    return _reduced(value, axis, keep_dims, np.bitwise_xor)


def _best_index(data: Array, best: Array, axis: int) -> Array:
    """The lowest index of `best` along an axis; 0 where all are NaN."""
    return np.asarray(np.argmax(data == best, axis=axis, keepdims=True), np.int32)


def _extreme(
    input: Any, axis: Any, indices: Any, keep_dims: Any, function: Any
) -> Value | tuple[Value, Value]:
    original = to_value(input)
    best = _reduced(original, axis, True, function)
    if not unwrap(indices):
        return best if unwrap(keep_dims) else _reduced(original, axis, False, function)
    value, number, kept = _prepared(original, axis)
    data = computing(value.data, value.dtype)
    flat = computing(best.data, value.dtype).reshape((1,) if len(value.shape) == 1 else kept)
    found = Value(_best_index(data, flat, number), core.int32)
    largest = Value(best.data.reshape(found.shape), value.dtype)
    return (
        _finish(largest, number, kept, keep_dims),
        _finish(found, number, kept, keep_dims),
    )


def max(
    input: Any,
    axis: Any = None,
    return_indices: bool = False,
    return_indices_tie_break_left: bool = True,
    keep_dims: bool = False,
) -> Any:
    return _extreme(input, axis, return_indices, keep_dims, np.fmax)


def min(
    input: Any,
    axis: Any = None,
    return_indices: bool = False,
    return_indices_tie_break_left: bool = True,
    keep_dims: bool = False,
) -> Any:
    return _extreme(input, axis, return_indices, keep_dims, np.fmin)


def argmax(input: Any, axis: Any, tie_break_left: bool = True, keep_dims: bool = False) -> Value:
    index: Value = max(input, axis, return_indices=True, keep_dims=keep_dims)[1]
    return index


def argmin(input: Any, axis: Any, tie_break_left: bool = True, keep_dims: bool = False) -> Value:
    index: Value = min(input, axis, return_indices=True, keep_dims=keep_dims)[1]
    return index


def _scan(values: list[Value], axis: int, combine: Combine) -> list[Value]:
    """Inclusive scan in log2(extent) steps; the left operand always holds the earlier elements."""
    distance, extent = 1, values[0].shape[axis]
    keys = (slice(None),) * axis
    while distance < extent:
        later = _sliced(values, axis, slice(distance, None))
        earlier = _sliced(values, axis, slice(0, extent - distance))
        combined = combine(earlier, later)
        for value, result in zip(values, combined, strict=True):
            value.data[keys + (slice(distance, None),)] = result.data
        distance *= 2
    return values


def _turned(value: Value, axis: int, reverse: Any) -> Value:
    return value.reshaped(lambda data: np.flip(data, axis).copy()) if unwrap(reverse) else value


def associative_scan(
    input: Any, axis: Any, combine_fn: Callable[..., Any], reverse: bool = False
) -> Any:
    values = _operands(input)
    number = normal_axis(axis, len(values[0].shape))
    copies = [_turned(Value(value.data.copy(), value.dtype), number, reverse) for value in values]
    results = _scan(copies, number, _combiner(unwrap(combine_fn), values))
    turned = tuple(_turned(result, number, reverse) for result in results)
    return turned if isinstance(input, (tuple, list)) else turned[0]


def _cumulated(value: Value, axis: Any, reverse: Any, function: Any) -> Value:
    number = normal_axis(axis, len(value.shape))
    turned = _turned(value, number, reverse)
    wide = computing(turned.data, value.dtype)
    running = function.accumulate(wide, axis=number, dtype=wide.dtype)
    data = convert(running, _computing_type(value.dtype), value.dtype)
    return _turned(Value(data.astype(numpy_type(value.dtype)), value.dtype), number, reverse)


def cumsum(input: Any, axis: Any = 0, reverse: bool = False, dtype: Any = None) -> Value:
    return _cumulated(_widened(input, dtype), axis, reverse, np.add)


def cumprod(input: Any, axis: Any = 0, reverse: bool = False) -> Value:
    return _cumulated(_widened(input, None), axis, reverse, np.multiply)


TABLE.update(
    reduce=reduce,
    sum=sum,
    xor_sum=xor_sum,
    max=max,
    min=min,
    argmax=argmax,
    argmin=argmin,
    associative_scan=associative_scan,
    cumsum=cumsum,
    cumprod=cumprod,
)
