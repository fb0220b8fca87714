"""Changes of shape. None of them moves data by itself."""

from enceladus.language._registry import Shape, Tile, builtin


@builtin()
def broadcast(input: Tile, other: Tile) -> Tile:
    """Broadcasts two values to their common shape.

    Args:
        input: a tile or scalar.
        other: a tile or scalar.

    Returns:
        Both, in the common shape; types are kept.

    Raises:
        CompilationError: an extent differs and is 1 on neither side.

    Example:
        >>> rows, columns = tl.broadcast(rows[:, None], columns[None, :])
    """


@builtin(method=True)
def broadcast_to(input: Tile, *shape: Shape) -> Tile:
    """Repeats a value along the dimensions where it has extent 1.

    Args:
        input: a tile or scalar.
        shape: the new extents, as one tuple or as separate ints.

    Returns:
        A tile of that shape and the type of `input`.

    Raises:
        CompilationError: an extent of `input` is neither 1 nor the new one.

    Example:
        >>> bias = tl.broadcast_to(bias[None, :], (BM, BN))
    """


@builtin(method=True)
def expand_dims(input: Tile, axis: int | tuple[int, ...]) -> Tile:
    """Inserts dimensions of extent 1; `x[:, None]` is the short form.

    Args:
        input: a tile or scalar.
        axis: where the new dimensions stand in the result; negative counts from its end.

    Returns:
        The elements of `input` in the new shape.

    Raises:
        CompilationError: an axis is out of range or given twice.

    Example:
        >>> row = tl.expand_dims(x, 0)
    """


@builtin(method=True)
def reshape(input: Tile, *shape: Shape, can_reorder: bool = False) -> Tile:
    """The same elements, in row-major order, in another shape.

    Args:
        input: a tile.
        shape: the new extents, as one tuple or as separate ints; their product is the old one.
        can_reorder: permits another order of elements (accepted, not used).

    Returns:
        A tile of that shape.

    Raises:
        CompilationError: the number of elements differs.

    Example:
        >>> pairs = tl.reshape(x, (BLOCK // 2, 2))
    """


@builtin(method=True)
def view(input: Tile, *shape: Shape) -> Tile:
    """The same as `reshape`.

    Args:
        input: a tile.
        shape: the new extents, as one tuple or as separate ints.

    Returns:
        A tile of that shape.

    Raises:
        CompilationError: the number of elements differs.

    Example:
        >>> pairs = x.view(BLOCK // 2, 2)
    """


@builtin(method=True)
def trans(input: Tile, *dims: int) -> Tile:
    """Permutes the dimensions; swaps the last two when no order is given. Also `x.T`.

    Args:
        input: a tile.
        dims: for each new dimension the old one, as one tuple or as separate ints.

    Returns:
        The transposed tile.

    Raises:
        CompilationError: `dims` is no permutation, or absent for a tile of fewer than 2 dimensions.

    Example:
        >>> scores = tl.dot(q, tl.trans(k))
    """


@builtin(method=True)
def permute(input: Tile, *dims: int) -> Tile:
    """Permutes the dimensions.

    Args:
        input: a tile.
        dims: for each new dimension the old one, as one tuple or as separate ints.

    Returns:
        The permuted tile.

    Raises:
        CompilationError: `dims` is no permutation.

    Example:
        >>> y = tl.permute(x, (2, 0, 1))
    """
