"""What a kernel case is, and the inputs and tolerances that the cases share.

A case is one launch with its reference. It knows no target: `test_cases.py` runs each on the
interpreter and on every target of the package.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

Arguments = dict[str, Any]

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")  # not in ALL: nothing computes in them
HALVES = ("float16", "bfloat16")
NUMBERS = INTEGERS + FLOATS
ALL = ("int1", *NUMBERS)
GUARD = 32  # elements behind each output that nothing may touch


def numpy_type(name: str) -> np.dtype:
    """The NumPy dtype of a dtype of the language."""
    if name in ("bfloat16", *FLOAT8):
        return np.dtype(getattr(ml_dtypes, name))
    return np.dtype(bool if name == "int1" else name)


@dataclass(frozen=True)
class Tolerance:
    """How far a result may be from the reference; NaN and infinities have to be where it has them.

    Attributes:
        relative: of the reference's magnitude.
        absolute: added to that.
        ulps: units in the last place of the result's type, added to that.
        why: one line.
    """

    relative: float = 0.0
    absolute: float = 0.0
    ulps: float = 0.0
    why: str = "every target computes this exactly"


EXACT = Tolerance()
_RELATIVE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-5, "float64": 1e-12}


def rounded(name: str, size: float = 0.0) -> Tolerance:
    """The project's tolerance of a dtype; integers are exact.

    Args:
        name: the dtype of the result.
        size: magnitude of what is summed, where cancellation leaves less.
    """
    if name not in _RELATIVE:
        return EXACT
    relative = _RELATIVE[name]
    why = "a few roundings of the result's type, relative to the size of the sum"
    return Tolerance(relative, relative * size, why=why)


@dataclass(frozen=True)
class Case:
    """One launch and what it has to give.

    Attributes:
        name: unique, names the claim.
        kernel: the `@enceladus.jit` function.
        grid: one to three extents.
        inputs: makes the arguments afresh, by parameter name, compile-time ones included.
        expected: from the arguments before the launch to the arrays after it, by name. An array
            shorter than its argument leaves the rest of that argument unchanged; an array that
            is not named stays as it was.
        tolerance: for every output.
        num_warps: the launch option.
        signed_zeros: whether -0.0 and 0.0 are told apart.
    """

    name: str
    kernel: Any
    grid: tuple[int, ...]
    inputs: Callable[[], Arguments]
    expected: Callable[[Arguments], Arguments]
    tolerance: Tolerance = EXACT
    num_warps: int = 4
    signed_zeros: bool = False
    options: dict[str, Any] = field(default_factory=dict)


def generator(*seed: object) -> np.random.Generator:
    """A generator whose seed is a name."""
    return np.random.default_rng(zlib.crc32(repr(seed).encode()))


def _extremes(name: str) -> list[Any]:
    if name in FLOATS:
        limits = ml_dtypes.finfo(numpy_type(name))
        return [np.nan, np.inf, -np.inf, 0.0, -0.0, float(limits.max), float(limits.min), 1.0]
    limits = np.iinfo(numpy_type(name))
    return [limits.min, limits.max, 0, 1, limits.max - 1, limits.min + 1]


def plain(name: str, *shape: int, seed: object = 0, scale: float = 2.0) -> np.ndarray:
    """Random finite values: floats around 0, integers from -50 to 50 (or from 0), any int1."""
    random = generator("plain", name, shape, seed)
    if name == "int1":
        return random.integers(0, 2, shape).astype(bool)
    if name in FLOATS or name in FLOAT8:
        return (random.standard_normal(shape) * scale).astype(numpy_type(name))
    low = 0 if name.startswith("u") else -50
    return random.integers(low, 51, shape).astype(numpy_type(name))


def extreme(name: str, *shape: int, seed: object = 0) -> np.ndarray:
    """Random values of the whole range, with the type's extremes strewn in."""
    if name == "int1":
        return plain(name, *shape, seed=seed)
    random = generator("extreme", name, shape, seed)
    if name in FLOATS:
        values = (random.standard_normal(shape) * 10.0 ** random.integers(-2, 3, shape)).astype(
            numpy_type(name)
        )
    else:
        limits = np.iinfo(numpy_type(name))
        values = random.integers(
            limits.min, limits.max, shape, dtype=numpy_type(name), endpoint=True
        )
    picked = random.random(shape) < 0.4
    special = np.array(_extremes(name), dtype=numpy_type(name))
    return np.where(picked, special[random.integers(0, len(special), shape)], values).astype(
        numpy_type(name)
    )


def output(name: str, *shape: int) -> np.ndarray:
    """An output full of 1, with GUARD elements behind it when it has one dimension."""
    if len(shape) == 1:
        shape = (shape[0] + GUARD,)
    return np.ones(shape, numpy_type(name))


def wide(values: np.ndarray) -> np.ndarray:
    """Values in the type that arithmetic on them computes in."""
    halves = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
    return values.astype(np.float32) if values.dtype in halves else values


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """A reference that overflows and divides by zero on purpose, without NumPy's warnings."""

    def silent(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return silent
