"""Elementwise math on floats. float16 and bfloat16 compute in float32 and round once.

Also reached as `tl.math`. Not here: `sigmoid` and `softmax`, which are written in terms of these.
"""

from enceladus.language._registry import Tile, builtin
from enceladus.language.arithmetic import abs, div_rn, fma, sqrt_rn, umulhi

__all__ = [
    "abs",
    "ceil",
    "cos",
    "div_rn",
    "erf",
    "exp",
    "exp2",
    "floor",
    "fma",
    "log",
    "log2",
    "rsqrt",
    "sin",
    "sqrt",
    "sqrt_rn",
    "tanh",
    "umulhi",
]


@builtin(method=True)
def exp(x: Tile) -> Tile:
    """E to the power `x`, element by element.

    Args:
        x: a float tile or scalar; an integer is an error.

    Returns:
        The shape and type of `x`; overflow gives infinity.

    Raises:
        CompilationError: `x` is no float.

    Example:
        >>> probability = tl.exp(x - largest)
    """


@builtin(method=True)
def exp2(x: Tile) -> Tile:
    """2 to the power `x`, element by element.

    Args:
        x: a float tile or scalar; an integer is an error.

    Returns:
        The shape and type of `x`; overflow gives infinity; cheaper than `exp`.

    Raises:
        CompilationError: `x` is no float.

    Example:
        >>> p = tl.exp2(x * 1.44269504)
    """


@builtin(method=True)
def log(x: Tile) -> Tile:
    """The natural logarithm, element by element.

    Args:
        x: a float tile or scalar; an integer is an error.

    Returns:
        The shape and type of `x`; 0 gives minus infinity, below 0 gives NaN.

    Raises:
        CompilationError: `x` is no float.

    Example:
        >>> y = tl.log(x)
    """


@builtin(method=True)
def log2(x: Tile) -> Tile:
    """The logarithm to base 2, element by element.

    Args:
        x: a float tile or scalar; an integer is an error.

    Returns:
        The shape and type of `x`; 0 gives minus infinity, below 0 gives NaN.

    Raises:
        CompilationError: `x` is no float.

    Example:
        >>> y = tl.log2(x)
    """


@builtin(method=True)
def sqrt(x: Tile) -> Tile:
    """The square root, element by element.

    Args:
        x: a float tile or scalar; an integer is an error.

    Returns:
        The shape and type of `x`; NaN below 0.

    Raises:
        CompilationError: `x` is no float.

    Example:
        >>> norm = tl.sqrt(tl.sum(x * x, axis=0))
    """


@builtin(method=True)
def rsqrt(x: Tile) -> Tile:
    """One over the square root, element by element.

    Args:
        x: a float tile or scalar; an integer is an error.

    Returns:
        The shape and type of `x`; 0 gives infinity, below 0 gives NaN.

    Raises:
        CompilationError: `x` is no float.

    Example:
        >>> scale = tl.rsqrt(variance + epsilon)
    """


@builtin(method=True)
def sin(x: Tile) -> Tile:
    """The sine of `x` in radians, element by element.

    Args:
        x: a float tile or scalar; an integer is an error.

    Returns:
        The shape and type of `x`; infinity gives NaN.

    Raises:
        CompilationError: `x` is no float.

    Example:
        >>> y = tl.sin(x)
    """


@builtin(method=True)
def cos(x: Tile) -> Tile:
    """The cosine of `x` in radians, element by element.

    Args:
        x: a float tile or scalar; an integer is an error.

    Returns:
        The shape and type of `x`; infinity gives NaN.

    Raises:
        CompilationError: `x` is no float.

    Example:
        >>> y = tl.cos(x)
    """


@builtin(method=True)
def tanh(x: Tile) -> Tile:
    """The hyperbolic tangent, element by element.

    Args:
        x: a float tile or scalar; an integer is an error.

    Returns:
        The shape and type of `x`; from -1 to 1.

    Raises:
        CompilationError: `x` is no float.

    Example:
        >>> y = tl.tanh(x)
    """


@builtin(method=True)
def erf(x: Tile) -> Tile:
    """The error function, element by element.

    Args:
        x: a float tile or scalar; an integer is an error.

    Returns:
        The shape and type of `x`; from -1 to 1.

    Raises:
        CompilationError: `x` is no float.

    Example:
        >>> gelu = 0.5 * x * (1.0 + tl.erf(x * 0.70710678))
    """


@builtin(method=True)
def floor(x: Tile) -> Tile:
    """The largest integer not above `x`, as a float, element by element.

    Args:
        x: a float tile or scalar; an integer is an error.

    Returns:
        The shape and type of `x`; keeps -0.0, NaN and infinities.

    Raises:
        CompilationError: `x` is no float.

    Example:
        >>> y = tl.floor(x)
    """


@builtin(method=True)
def ceil(x: Tile) -> Tile:
    """The smallest integer not below `x`, as a float, element by element.

    Args:
        x: a float tile or scalar; an integer is an error.

    Returns:
        The shape and type of `x`; keeps -0.0, NaN and infinities.

    Raises:
        CompilationError: `x` is no float.

    Example:
        >>> y = tl.ceil(x)
    """
