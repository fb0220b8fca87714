"""Functions of the language written in the language; compiled like a user's own helpers."""

from enceladus.language._registry import Shape, Tile, helper
from enceladus.language.core import dtype as element_type
from enceladus.language.core import float32
from enceladus.language.creation import full
from enceladus.language.math import exp
from enceladus.language.reductions import max as tile_max
from enceladus.language.reductions import sum as tile_sum
from enceladus.language.shape import reshape


@helper(method=True)
def cdiv(x: Tile, div: Tile) -> Tile:
    """`x / div` rounded up, for integers: `(x + div - 1) // div`.

    Args:
        x: an integer scalar or tile, at compile time or run time; not negative.
        div: a positive integer, broadcast with `x`.

    Returns:
        The common shape and type.

    Raises:
        CompilationError: an operand is a float.

    Example:
        >>> blocks = tl.cdiv(n, BLOCK)
    """
    return (x + div - 1) // div


@helper()
def zeros(shape: Shape, dtype: element_type) -> Tile:
    """A tile of zeros.

    Args:
        shape: compile-time extents, each a power of two.
        dtype: element type.

    Returns:
        A tile of that shape and dtype.

    Raises:
        CompilationError: an extent is no power of two.

    Example:
        >>> acc = tl.zeros((BM, BN), dtype=tl.float32)
    """
    return full(shape, 0, dtype)


@helper()
def zeros_like(input: Tile) -> Tile:
    """Zeros in the shape and type of another tile.

    Args:
        input: a tile or scalar.

    Returns:
        A tile like `input`.

    Raises:
        CompilationError: `input` holds pointers.

    Example:
        >>> acc = tl.zeros_like(x)
    """
    return full(input.shape, 0, input.dtype)


@helper()
def full_like(input: Tile, value: Tile) -> Tile:
    """One value in the shape and type of another tile.

    Args:
        input: a tile or scalar.
        value: a scalar, converted to the type of `input`.

    Returns:
        A tile like `input`.

    Raises:
        CompilationError: `value` is a tile.

    Example:
        >>> ones = tl.full_like(x, 1)
    """
    return full(input.shape, value, input.dtype)


@helper(method=True)
def ravel(x: Tile, can_reorder: bool = False) -> Tile:
    """All elements in row-major order, in one dimension.

    Args:
        x: a tile.
        can_reorder: permits another order (accepted, not used).

    Returns:
        A tile of shape `(x.numel,)`.

    Raises:
        CompilationError: `x` is a scalar.

    Example:
        >>> flat = tl.ravel(x)
    """
    return reshape(x, (x.numel,), can_reorder=can_reorder)


@helper(method=True)
def sigmoid(x: Tile) -> Tile:
    """`1 / (1 + exp(-x))`, element by element. float16 and bfloat16 compute in float32.

    Args:
        x: a float tile or scalar.

    Returns:
        The shape and type of `x`.

    Raises:
        CompilationError: `x` is no float.

    Example:
        >>> gate = tl.sigmoid(x)
    """
    if x.dtype.primitive_bitwidth < 32:
        narrow = x.dtype
        return (1 / (1 + exp(-x.to(float32)))).to(narrow)
    return 1 / (1 + exp(-x))


@helper(method=True)
def softmax(
    x: Tile, dim: int | None = None, keep_dims: bool = False, ieee_rounding: bool = False
) -> Tile:
    """`exp(x) / sum(exp(x))` along one axis, safe for large values.

    Args:
        x: a float tile. float16 and bfloat16 compute in float32 and round once.
        dim: the axis, 0 by default.
        keep_dims: accepted; the result always has the shape of `x`.
        ieee_rounding: accepted, not used.

    Returns:
        The shape and type of `x`. A row whose entries are all -inf gives NaN.

    Raises:
        CompilationError: `x` is no float, or the axis is out of range.

    Example:
        >>> weights = tl.softmax(scores, dim=1)
    """
    axis = 0 if dim is None else dim
    wide = x.to(float32) if x.dtype.primitive_bitwidth < 32 else x
    numerator = exp(wide - tile_max(wide, axis, keep_dims=True))
    return (numerator / tile_sum(numerator, axis, keep_dims=True)).to(x.dtype)
