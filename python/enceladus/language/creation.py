"""Tiles made from constants."""

from enceladus.language._registry import Shape, Tile, builtin
from enceladus.language.core import dtype as element_type


@builtin()
def arange(start: int, end: int) -> Tile:
    """The integers from `start` up to but without `end`.

    Args:
        start: first value, at compile time.
        end: one past the last; `end - start` is a power of two up to 65,536.

    Returns:
        An int32 tile of shape `(end - start,)`.

    Raises:
        CompilationError: the extent is no power of two, or a bound is no compile-time int32.

    Example:
        >>> columns = tl.arange(0, 128)
    """


@builtin()
def full(shape: Shape, value: Tile, dtype: element_type) -> Tile:
    """A tile whose elements are all `value`.

    Args:
        shape: compile-time extents, each a power of two.
        value: a scalar, at compile time or run time; converted to `dtype`.
        dtype: element type of the result.

    Returns:
        A tile of that shape and dtype.

    Raises:
        CompilationError: an extent is no power of two, or `value` is a tile.

    Example:
        >>> best = tl.full((64,), float("-inf"), tl.float32)
    """
