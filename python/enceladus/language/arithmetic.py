"""Elementwise selection, extrema, arithmetic beyond the operators, and conversion."""

from enceladus.language._registry import Tile, builtin
from enceladus.language.core import PropagateNan
from enceladus.language.core import dtype as element_type


@builtin()
def where(condition: Tile, x: Tile, y: Tile) -> Tile:
    """Elements of `x` where `condition` is not 0, of `y` elsewhere.

    Args:
        condition: int1, or an integer compared with 0.
        x: a tile or scalar.
        y: a tile or scalar; the three are broadcast together, `x` and `y` promoted.

    Returns:
        A tile of the common shape and type. Both sides are computed.

    Raises:
        CompilationError: the shapes do not broadcast.

    Example:
        >>> x = tl.where(columns < n, x, float("-inf"))
    """


@builtin()
def maximum(x: Tile, y: Tile, propagate_nan: PropagateNan = PropagateNan.NONE) -> Tile:
    """The larger of two values, element by element.

    Args:
        x: a tile or scalar.
        y: a tile or scalar, broadcast and promoted with `x`.
        propagate_nan: `NONE` ignores a NaN unless both are; `ALL` gives NaN when one is.

    Returns:
        A tile of the common shape and type.

    Raises:
        CompilationError: the shapes do not broadcast.

    Example:
        >>> y = tl.maximum(x, 0.0)
    """


@builtin()
def minimum(x: Tile, y: Tile, propagate_nan: PropagateNan = PropagateNan.NONE) -> Tile:
    """The smaller of two values, element by element.

    Args:
        x: a tile or scalar.
        y: a tile or scalar, broadcast and promoted with `x`.
        propagate_nan: `NONE` ignores a NaN unless both are; `ALL` gives NaN when one is.

    Returns:
        A tile of the common shape and type.

    Raises:
        CompilationError: the shapes do not broadcast.

    Example:
        >>> y = tl.minimum(x, 6.0)
    """


@builtin()
def clamp(x: Tile, min: Tile, max: Tile, propagate_nan: PropagateNan = PropagateNan.NONE) -> Tile:
    """`x` held between `min` and `max`: `minimum(maximum(x, min), max)`.

    Args:
        x: a float tile or scalar.
        min: lower bound, broadcast and promoted with `x`.
        max: upper bound.
        propagate_nan: `NONE` turns a NaN into `min`; `ALL` keeps it.

    Returns:
        A tile of the common shape and type.

    Raises:
        CompilationError: `x` is no float, or the shapes do not broadcast.

    Example:
        >>> y = tl.clamp(x, -1.0, 1.0)
    """


@builtin()
def fma(x: Tile, y: Tile, z: Tile) -> Tile:
    """`x * y + z` with one rounding.

    Args:
        x: a float tile or scalar.
        y: broadcast and promoted with `x`.
        z: broadcast and promoted with `x`.

    Returns:
        A float tile of the common shape and type.

    Raises:
        CompilationError: the common type is no float.

    Example:
        >>> y = tl.fma(slope, x, offset)
    """


@builtin(method=True)
def abs(x: Tile) -> Tile:
    """The absolute value, element by element; INT_MIN gives INT_MIN.

    Args:
        x: a tile or scalar of any dtype.

    Returns:
        The shape and type of `x`.

    Raises:
        CompilationError: `x` holds pointers.

    Example:
        >>> largest = tl.max(tl.abs(x), axis=0)
    """


@builtin()
def div_rn(x: Tile, y: Tile) -> Tile:
    """Division rounded correctly (to nearest, ties to even); `/` may be 2.5 ulp off.

    Args:
        x: a float tile or scalar.
        y: broadcast and promoted with `x`.

    Returns:
        A float tile of the common shape and type.

    Raises:
        CompilationError: the common type is no float.

    Example:
        >>> y = tl.div_rn(x, 3.0)
    """


@builtin(method=True)
def sqrt_rn(x: Tile) -> Tile:
    """The square root rounded correctly; `sqrt` may be 2.5 ulp off.

    Args:
        x: a float tile or scalar.

    Returns:
        The shape and type of `x`; NaN below 0.

    Raises:
        CompilationError: `x` is no float.

    Example:
        >>> y = tl.sqrt_rn(x)
    """


@builtin()
def umulhi(x: Tile, y: Tile) -> Tile:
    """The upper half of the double-width product, the operands taken as unsigned bits.

    Args:
        x: a tile or scalar of a 32- or 64-bit integer type.
        y: broadcast and promoted with `x`.

    Returns:
        A tile of the common shape and type.

    Raises:
        CompilationError: the common type is no 32- or 64-bit integer.

    Example:
        >>> high = tl.umulhi(x, 0xD2511F53)
    """


@builtin(method="to")
def cast(
    input: Tile,
    dtype: element_type,
    fp_downcast_rounding: str | None = None,
    bitcast: bool = False,
) -> Tile:
    """Converts to another dtype; as a method, `x.to(dtype)`.

    A conversion rounds once: to the nearest even by default. Float to integer truncates and
    saturates, NaN gives 0; to `int1` it is `x != 0`. An integer narrows by wrapping.

    Args:
        input: a tile or scalar.
        dtype: the type to convert to.
        fp_downcast_rounding: "rtne" (the default) or "rtz", only from a wider float to a
            narrower one.
        bitcast: keep the bits instead; both types have one width.

    Returns:
        The shape of `input` in the new type.

    Raises:
        CompilationError: a bitcast between widths, or a rounding where none happens.

    Example:
        >>> half = acc.to(tl.float16)
    """
