"""Prefix scans of a tile along an axis."""

from collections.abc import Callable
from typing import Any

from enceladus.language._registry import Tile, builtin
from enceladus.language.core import dtype as element_type


@builtin(method=True)
def associative_scan(
    input: Tile, axis: int, combine_fn: Callable[..., Any], reverse: bool = False
) -> Tile:
    """The running combination along an axis: element i combines elements 0 to i.

    Args:
        input: a tile, or a tuple of tiles of one shape.
        axis: the axis to scan.
        combine_fn: a `@jit` function of (earlier, later) giving one value (of 2n values giving n
            for a tuple of n tiles); associative, not necessarily commutative.
        reverse: scan from the end; the element nearer to the end is then the earlier one.

    Returns:
        A tile of the shape and type of `input`; a tuple for a tuple.

    Raises:
        CompilationError: the axis is out of range, or `combine_fn` changes a type or the count.

    Example:
        >>> running = tl.associative_scan(x, 0, larger)
    """


@builtin(method=True)
def cumsum(
    input: Tile, axis: int = 0, reverse: bool = False, dtype: element_type | None = None
) -> Tile:
    """The running sum along an axis.

    Args:
        input: a tile.
        axis: the axis to scan.
        reverse: sum from the end.
        dtype: convert to this type first. By default int1 and integers below 32 bits scan as
            int32; float16 and bfloat16 accumulate in float32.

    Returns:
        A tile of the shape of `input`. float16 and bfloat16 round each result once.

    Raises:
        CompilationError: the axis is out of range.

    Example:
        >>> ends = tl.cumsum(lengths, axis=0)
    """


@builtin(method=True)
def cumprod(input: Tile, axis: int = 0, reverse: bool = False) -> Tile:
    """The running product along an axis.

    Args:
        input: a tile; int1 and integers below 32 bits scan as int32, float16
            and bfloat16 accumulate in float32.
        axis: the axis to scan.
        reverse: multiply from the end.

    Returns:
        A tile of the shape of `input`. float16 and bfloat16 round each result once.

    Raises:
        CompilationError: the axis is out of range.

    Example:
        >>> powers = tl.cumprod(tl.full((8,), 2, tl.int32), axis=0)
    """
