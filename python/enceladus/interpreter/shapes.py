"""Builtins that make tiles from constants or change their shape, and the check of extents."""

import operator
from typing import Any

import numpy as np

from enceladus.interpreter.context import current, fail
from enceladus.interpreter.numpy_types import numpy_type
from enceladus.interpreter.promotion import cast_value, common_shape, is_number, to_value
from enceladus.interpreter.values import TABLE, Value, describe
from enceladus.language import core
from enceladus.language.core import dtype, unwrap

MAX_EXTENT = 65536


def constant(value: Any, what: str) -> int:
    """A compile-time int."""
    value = unwrap(value)
    if isinstance(value, Value):
        fail(f"{what} must be known at compile time, not a {describe(value)}")
    try:
        return operator.index(value)
    except TypeError:
        fail(f"{what} must be an integer, not {value!r}")


def extents(shape: Any, what: str = "an extent") -> tuple[int, ...]:
    """A shape given as one sequence or as separate ints, checked: powers of two to 65,536."""
    shape = unwrap(shape)
    parts = shape if isinstance(shape, (tuple, list)) else (shape,)
    if len(parts) == 1 and isinstance(unwrap(parts[0]), (tuple, list)):
        parts = unwrap(parts[0])
    result = tuple(constant(part, what) for part in parts)
    for extent in result:
        if not 1 <= extent <= MAX_EXTENT or extent & (extent - 1):
            fail(
                f"{what} of {extent} is no power of two from 1 to {MAX_EXTENT}",
                "use `enceladus.next_power_of_2` and a mask",
            )
    return result


def normal_axis(axis: Any, rank: int) -> int:
    """An axis from 0 to `rank - 1`; negative ones count from the end."""
    number = constant(axis, "an axis")
    if not -rank <= number < rank:
        fail(f"axis {number} is outside a tile of {rank} dimensions")
    return number % rank


def program_id(axis: int) -> Value:
    return Value(np.asarray(current().program[_grid_axis(axis)], np.int32), core.int32)


def num_programs(axis: int) -> Value:
    return Value(np.asarray(current().grid[_grid_axis(axis)], np.int32), core.int32)


def _grid_axis(axis: int) -> int:
    number = constant(axis, "an axis of the grid")
    if number not in (0, 1, 2):
        fail(f"a grid has the axes 0, 1 and 2, not {number}")
    return number


def arange(start: int, end: int) -> Value:
    first, last = constant(start, "a bound of `tl.arange`"), constant(end, "a bound of `tl.arange`")
    extents((last - first,), "`tl.arange` over an extent")
    return Value(np.arange(first, last, dtype=np.int32), core.int32)


def full(shape: Any, value: Any, dtype: dtype) -> Value:
    element = unwrap(dtype)
    if not isinstance(element, core.dtype):
        fail(f"a dtype such as `tl.float32` is wanted, not {element!r}")
    value = unwrap(value)
    scalar = to_value(value, element) if is_number(value) else cast_value(to_value(value), element)
    if scalar.shape:
        fail(f"`tl.full` takes a scalar, not a {describe(scalar)}")
    whole = extents(shape) if shape != () else ()
    return Value(np.full(whole, scalar.data, numpy_type(element)), element)


def broadcast(input: Any, other: Any) -> tuple[Value, Value]:
    left, right = to_value(input), to_value(other)
    shape = common_shape([left, right])
    return _repeat(left, shape), _repeat(right, shape)


def broadcast_to(input: Any, *shape: Any) -> Value:
    value, whole = to_value(input), extents(shape)
    rank = len(value.shape)
    if rank and (
        rank != len(whole)
        or any(old not in (1, new) for old, new in zip(value.shape, whole, strict=True))
    ):
        fail(f"a {describe(value)} does not broadcast to {whole}")
    return _repeat(value, whole)


def _repeat(value: Value, shape: tuple[int, ...]) -> Value:
    return value.reshaped(lambda data: np.broadcast_to(data, shape).copy())


def expand_dims(input: Any, axis: Any) -> Value:
    value, axis = to_value(input), unwrap(axis)
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    rank = len(value.shape) + len(axes)
    places = {normal_axis(one, rank) for one in axes}
    if len(places) != len(axes):
        fail(f"`tl.expand_dims` got an axis twice: {axes}")
    return value.reshaped(lambda data: np.expand_dims(data, tuple(sorted(places))))


def reshape(input: Any, *shape: Any, can_reorder: bool = False) -> Value:
    value, whole = to_value(input), extents(shape)
    if int(np.prod(whole)) != value.numel:
        fail(f"a {describe(value)} has {value.numel} elements and does not fit {whole}")
    return value.reshaped(lambda data: data.reshape(whole))


def permute(input: Any, *dims: Any) -> Value:
    value = to_value(input)
    order = unwrap(dims[0]) if len(dims) == 1 else dims
    order = order if isinstance(order, (tuple, list)) else (order,)
    rank = len(value.shape)
    axes = tuple(normal_axis(axis, rank) for axis in order)
    if sorted(axes) != list(range(rank)):
        fail(f"{axes} is no permutation of the {rank} dimensions of a {describe(value)}")
    return value.reshaped(lambda data: data.transpose(axes))


def trans(input: Any, *dims: Any) -> Value:
    value = to_value(input)
    if dims:
        return permute(value, *dims)
    if len(value.shape) < 2:
        fail(f"`tl.trans` takes at least 2 dimensions, not a {describe(value)}")
    return value.reshaped(lambda data: np.swapaxes(data, -1, -2))


def view(input: Any, *shape: Any) -> Value:
    return reshape(input, *shape)


TABLE.update(
    program_id=program_id,
    num_programs=num_programs,
    arange=arange,
    full=full,
    broadcast=broadcast,
    broadcast_to=broadcast_to,
    expand_dims=expand_dims,
    reshape=reshape,
    view=view,
    permute=permute,
    trans=trans,
)
