"""Reductions of a tile along an axis."""

from collections.abc import Callable
from typing import Any

from enceladus.language._registry import Tile, builtin
from enceladus.language.core import dtype as element_type


@builtin(method=True)
def reduce(
    input: Tile,
    axis: int | None,
    combine_fn: Callable[..., Any],
    keep_dims: bool = False,
) -> Tile:
    """Combines the elements along an axis by a function of the user's.

    Args:
        input: a tile, or a tuple of tiles of one shape.
        axis: the axis to remove; None reduces all elements to a scalar.
        combine_fn: a `@jit` function of two values giving one (of 2n values giving n for a tuple
            of n tiles); associative and commutative.
        keep_dims: keep the axis, with extent 1.

    Returns:
        A tile of the remaining shape, or a scalar; a tuple for a tuple.

    Raises:
        CompilationError: the axis is out of range, or `combine_fn` changes a type or the count.

    Example:
        >>> product = tl.reduce(x, 0, multiply)
    """


@builtin(method=True)
def sum(
    input: Tile,
    axis: int | None = None,
    keep_dims: bool = False,
    dtype: element_type | None = None,
) -> Tile:
    """The sum along an axis.

    Args:
        input: a tile.
        axis: the axis to remove; None sums all elements.
        keep_dims: keep the axis, with extent 1.
        dtype: convert to this type first. By default int1 and integers below 32 bits sum as
            int32; float16 and bfloat16 accumulate in float32.

    Returns:
        A tile of the remaining shape, or a scalar. float16 and bfloat16 round once to their type.

    Raises:
        CompilationError: the axis is out of range.

    Example:
        >>> mean = tl.sum(x, axis=0) / n
    """


@builtin(method=True)
def max(
    input: Tile,
    axis: int | None = None,
    return_indices: bool = False,
    return_indices_tie_break_left: bool = True,
    keep_dims: bool = False,
) -> Tile:
    """The largest element along an axis; NaN is ignored unless all are NaN.

    Args:
        input: a tile.
        axis: the axis to remove; None reduces all elements.
        return_indices: also give the int32 index along the axis.
        return_indices_tie_break_left: of equals the lowest index (otherwise any; it is the lowest).
        keep_dims: keep the axis, with extent 1.

    Returns:
        A tile of the remaining shape in the type of `input`, or the pair (values, indices).

    Raises:
        CompilationError: the axis is out of range.

    Example:
        >>> largest = tl.max(x, axis=1)
    """


@builtin(method=True)
def min(
    input: Tile,
    axis: int | None = None,
    return_indices: bool = False,
    return_indices_tie_break_left: bool = True,
    keep_dims: bool = False,
) -> Tile:
    """The smallest element along an axis; NaN is ignored unless all are NaN.

    Args:
        input: a tile.
        axis: the axis to remove; None reduces all elements.
        return_indices: also give the int32 index along the axis.
        return_indices_tie_break_left: of equals the lowest index (otherwise any; it is the lowest).
        keep_dims: keep the axis, with extent 1.

    Returns:
        A tile of the remaining shape in the type of `input`, or the pair (values, indices).

    Raises:
        CompilationError: the axis is out of range.

    Example:
        >>> smallest, where = tl.min(x, axis=0, return_indices=True)
    """


@builtin(method=True)
def argmax(
    input: Tile, axis: int | None, tie_break_left: bool = True, keep_dims: bool = False
) -> Tile:
    """The index of the largest element along an axis.

    Args:
        input: a tile.
        axis: the axis to remove; None searches all elements in row-major order.
        tie_break_left: of equals the lowest index (otherwise any; it is the lowest).
        keep_dims: keep the axis, with extent 1.

    Returns:
        int32 indices; NaN is ignored, and index 0 stands for a row of NaN only.

    Raises:
        CompilationError: the axis is out of range.

    Example:
        >>> predicted = tl.argmax(scores, axis=1)
    """


@builtin(method=True)
def argmin(
    input: Tile, axis: int | None, tie_break_left: bool = True, keep_dims: bool = False
) -> Tile:
    """The index of the smallest element along an axis.

    Args:
        input: a tile.
        axis: the axis to remove; None searches all elements in row-major order.
        tie_break_left: of equals the lowest index (otherwise any; it is the lowest).
        keep_dims: keep the axis, with extent 1.

    Returns:
        int32 indices; NaN is ignored, and index 0 stands for a row of NaN only.

    Raises:
        CompilationError: the axis is out of range.

    Example:
        >>> nearest = tl.argmin(distances, axis=0)
    """


@builtin(method=True)
def xor_sum(input: Tile, axis: int | None = None, keep_dims: bool = False) -> Tile:
    """The exclusive or of all elements along an axis.

    Args:
        input: a tile of integers.
        axis: the axis to remove; None reduces all elements.
        keep_dims: keep the axis, with extent 1.

    Returns:
        A tile of the remaining shape in the type of `input`.

    Raises:
        CompilationError: `input` holds floats, or the axis is out of range.

    Example:
        >>> parity = tl.xor_sum(bits, axis=0)
    """
