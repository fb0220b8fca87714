"""Checks, messages and facts at compile time."""

from typing import Any

from enceladus.language._registry import Shape, Tile, builtin


@builtin()
def static_assert(cond: bool, msg: str = "") -> None:
    """Stops the compilation unless a compile-time condition holds.

    Args:
        cond: a compile-time value.
        msg: what to say; an f-string of compile-time values works.

    Raises:
        CompilationError: the condition is false, or known only at run time.

    Example:
        >>> tl.static_assert(BLOCK % 32 == 0, f"BLOCK is {BLOCK}")
    """


@builtin()
def static_print(
    *values: Any, sep: str = " ", end: str = "\n", file: Any = None, flush: bool = False
) -> None:
    """Prints while the kernel is compiled; run-time values print as their types.

    Args:
        values: what to print.
        sep: between values.
        end: after the last.
        file: a text stream, standard output by default.
        flush: flush the stream.

    Example:
        >>> tl.static_print("block", BLOCK, x.dtype)
    """


@builtin()
def multiple_of(input: Tile, values: Shape) -> Tile:
    """Tells the compiler that values are divisible.

    Args:
        input: an integer or pointer tile.
        values: a compile-time int, or one for each dimension.

    Returns:
        `input`.

    Example:
        >>> stride = tl.multiple_of(stride, 16)
    """


@builtin()
def max_contiguous(input: Tile, values: Shape) -> Tile:
    """Tells the compiler how many neighbours count up by one.

    Args:
        input: an integer or pointer tile.
        values: a compile-time int, or one for each dimension.

    Returns:
        `input`.

    Example:
        >>> rows = tl.max_contiguous(rows % M, BM)
    """


@builtin()
def max_constancy(input: Tile, values: Shape) -> Tile:
    """Tells the compiler how many neighbours are equal.

    Args:
        input: a tile.
        values: a compile-time int, or one for each dimension.

    Returns:
        `input`.

    Example:
        >>> groups = tl.max_constancy(columns // 8, 8)
    """


@builtin()
def assume(cond: Tile) -> None:
    """Tells the compiler that a condition always holds.

    Args:
        cond: an int1 scalar. In the interpreter it is checked.

    Example:
        >>> tl.assume(stride > 0)
    """
