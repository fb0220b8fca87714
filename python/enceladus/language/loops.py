"""Loop ranges with hints."""

from collections.abc import Iterator
from typing import Any

from enceladus.language._registry import Tile, implementation


class range:
    """A run-time loop like Python's `range`, with hints to the compiler.

    Args:
        arg1: the end, or the start when `arg2` is given; an integer scalar.
        arg2: the end.
        step: the increment, not 0.
        num_stages: how many iterations a pipelined loop keeps in flight.
        loop_unroll_factor: how often to repeat the body.
        disallow_acc_multi_buffer: accepted, not used.
        flatten: accepted, not used.
        warp_specialize: accepted, not used.
        disable_licm: accepted, not used.

    Raises:
        CompilationError: a bound is no integer scalar, or the step is the constant 0.

    Example:
        >>> for k in tl.range(0, K, BK, num_stages=3):
    """

    _enc_builtin = "range"

    def __init__(
        self,
        arg1: Tile,
        arg2: Tile = None,
        step: Tile = None,
        num_stages: int | None = None,
        loop_unroll_factor: int | None = None,
        disallow_acc_multi_buffer: bool = False,
        flatten: bool = False,
        warp_specialize: bool = False,
        disable_licm: bool = False,
    ) -> None:
        start, end = (0, arg1) if arg2 is None else (arg1, arg2)
        self._bounds = (start, end, 1 if step is None else step)

    def __iter__(self) -> Iterator[Any]:
        iterator: Iterator[Any] = implementation("range")(*self._bounds)
        return iterator


class static_range:
    """A loop unrolled at compile time; the variable is a compile-time int.

    Args:
        arg1: the end, or the start when `arg2` is given; a compile-time int.
        arg2: the end.
        step: the increment, not 0.

    Raises:
        CompilationError: a bound is no compile-time int.

    Example:
        >>> for i in tl.static_range(4):
    """

    _enc_builtin = "static_range"

    def __init__(self, arg1: int, arg2: int | None = None, step: int | None = None) -> None:
        start, end = (0, arg1) if arg2 is None else (arg1, arg2)
        self._bounds = (start, end, 1 if step is None else step)

    def __iter__(self) -> Iterator[int]:
        iterator: Iterator[int] = implementation("static_range")(*self._bounds)
        return iterator
