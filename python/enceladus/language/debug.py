"""Output and checks while a kernel runs."""

from enceladus.language._registry import Tile, builtin


@builtin()
def device_print(prefix: str, *args: Tile, hex: bool = False) -> None:
    """Prints each element on a line of its own: `pid (0, 0, 0) idx (3) x: 1.500000`.

    Args:
        prefix: a compile-time string, printed before the value with `: ` after it.
        args: tiles or scalars; with more than one, `(operand i) ` stands before each value.
        hex: print integers and bit patterns in base 16.

    Example:
        >>> tl.device_print("x", x)
    """


@builtin()
def device_assert(cond: Tile, msg: str = "", mask: Tile = None) -> None:
    """Stops the launch unless a condition holds; compiled only under ENCELADUS_DEBUG=1.

    Args:
        cond: an int1 tile or scalar.
        msg: a compile-time string.
        mask: int1, broadcast; elements where it is 0 are not checked.

    Raises:
        DeviceAssertionError: at the next synchronization, with file, line, program and message.

    Example:
        >>> tl.device_assert(index < n, "index in range")
    """


@builtin()
def debug_barrier() -> None:
    """Waits for all threads of the program. Never required.

    Example:
        >>> tl.debug_barrier()
    """
