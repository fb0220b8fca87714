"""Where a program stands in its launch grid."""

from enceladus.language._registry import Tile, builtin


@builtin()
def program_id(axis: int) -> Tile:
    """The index of this program along one axis of the launch grid.

    Args:
        axis: 0, 1 or 2, at compile time.

    Returns:
        An int32 scalar from 0 to `num_programs(axis) - 1`; 0 along an axis the grid lacks.

    Raises:
        CompilationError: the axis is none of 0, 1, 2.

    Example:
        >>> offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    """


@builtin()
def num_programs(axis: int) -> Tile:
    """The extent of the launch grid along one axis.

    Args:
        axis: 0, 1 or 2, at compile time.

    Returns:
        An int32 scalar; 1 along an axis the grid lacks.

    Raises:
        CompilationError: the axis is none of 0, 1, 2.

    Example:
        >>> for block in range(tl.program_id(0), blocks, tl.num_programs(0)):
    """
