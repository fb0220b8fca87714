"""Conversions between every two dtypes, bitcasts, and rounding toward zero."""

from fractions import Fraction

import ml_dtypes
import numpy as np

import enceladus
import enceladus.language as tl

from .case import ALL, FLOATS, INTEGERS, Case, generator, numpy_type, output, quiet
from .compare import is_float

N, BLOCK = 200, 256
GRID = (1,)


@enceladus.jit
def convert_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x.to(out_ptr.dtype.element_ty), mask=mask)


@enceladus.jit
def implicit_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


@enceladus.jit
def bitcast_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x.to(out_ptr.dtype.element_ty, bitcast=True), mask=mask)


@enceladus.jit
def toward_zero_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    result = tl.cast(x, out_ptr.dtype.element_ty, fp_downcast_rounding="rtz")
    tl.store(out_ptr + offsets, result, mask=mask)


# Each is a tie, or lies just beside one, for some narrower float; rounding twice gets it wrong.
TIES = (
    [2049.0, 2051.0, 257.0, 259.0, 65519.0, 65520.0, 16777217.0, 16777219.0]
    + [1.0 + 2.0**-8 + 2.0**-30, 1.0 + 2.0**-8 - 2.0**-30, 1.0 + 2.0**-11 + 2.0**-40]
    + [1.0 + 2.0**-24 + 2.0**-50, 3.0 * 2.0**-25, 2.0**-25, 2.0**-24, 2.0**-133]
)
EDGES = [127.4, 127.9, 128.0, -128.9, -129.0, 255.9, 256.0, -0.9, 0.9, 32767.5, 65535.9] + [
    2147483648.0,
    -2147483648.0,
    4294967296.0,
    9.3e18,
    -9.3e18,
    1.9e19,
]
BIG_INTEGERS = [
    16777217,
    16777219,
    2**24 + 2**8 + 1,
    2**53 + 1,
    2**62 + 2**54 + 1,
    2**62 + 2**38 + 1,
] + [2049, 2051, 65519, 65520, 257, 259, -257, -2049, -16777217]


@quiet
def samples(name):
    """Values where conversions go wrong: extremes, ties, limits of the integer types."""
    random = generator("conversion", name)
    if name == "int1":
        return random.integers(0, 2, N).astype(bool)
    if name in FLOATS:
        limits = ml_dtypes.finfo(numpy_type(name))
        special = [np.nan, np.inf, -np.inf, 0.0, -0.0, float(limits.max), float(limits.min)]
        special += TIES + EDGES + [-value for value in TIES]
        values = random.standard_normal(N) * 10.0 ** random.integers(-6, 20, N)
        values[: len(special)] = special
        return values.astype(np.float64).astype(numpy_type(name))
    limits = np.iinfo(numpy_type(name))
    exact = [limits.min, limits.max, 0, 1, limits.max - 1, limits.min + 1]
    exact += [value for value in BIG_INTEGERS if limits.min <= value <= limits.max]
    values = random.integers(limits.min, limits.max, N, dtype=numpy_type(name), endpoint=True)
    values[::3] >>= numpy_type(name).type(numpy_type(name).itemsize * 4)
    values[: len(exact)] = np.array(exact, numpy_type(name))
    return values


def to_integer(value, target):
    """One float to an integer type: truncated, saturated, NaN as 0."""
    limits = np.iinfo(target)
    number = float(value)
    if np.isnan(number):
        return 0
    if np.isinf(number):
        return limits.max if number > 0 else limits.min
    return min(max(int(number), limits.min), limits.max)


def round_exactly(value, target):
    """One number, given exactly, to the nearest value of a float type, ties to even.

    Compares the two neighbours as fractions, so that it shares no code with any conversion.
    """
    if isinstance(value, float) and not np.isfinite(value):
        return np.asarray(value).astype(target)[()]
    exact = Fraction(value)
    information = ml_dtypes.finfo(target)
    largest = Fraction(float(information.max))
    step = Fraction(2) ** (int(information.maxexp) - 1 - int(information.nmant))
    if abs(exact) >= largest + step / 2:
        return np.asarray(np.inf if exact > 0 else -np.inf).astype(target)[()]
    estimate = abs(exact.numerator).bit_length() - exact.denominator.bit_length() - 1
    exponent = estimate + (abs(exact) >= Fraction(2) ** (estimate + 1))
    exponent = max(exponent, int(information.minexp))
    unit = Fraction(2) ** (exponent - int(information.nmant))
    units = abs(exact) / unit
    below = units.numerator // units.denominator
    rest = units - below
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and below % 2):
        below += 1
    result = float(below * unit)
    negative = exact < 0 or (isinstance(value, float) and np.signbit(value))
    return np.asarray(-result if negative else result).astype(target)[()]


@quiet
def converted(x, name):
    target = numpy_type(name)
    if name == "int1":
        return x != 0
    if name in INTEGERS:
        if not is_float(x.dtype):
            return x.astype(target)
        return np.array([to_integer(value, target) for value in x], target)
    exact = [float(value) if is_float(x.dtype) else int(value) for value in x]
    return np.array([round_exactly(value, target) for value in exact], target)


@quiet
def truncated(x, name):
    """Rounded toward zero: the nearest value, one step back where that is too far."""
    target = numpy_type(name)
    nearest = converted(x, name)
    bits = nearest.view(f"u{target.itemsize}").copy()
    too_far = np.abs(nearest.astype(np.float64)) > np.abs(x.astype(np.float64))
    bits[too_far] -= np.array(1, bits.dtype)
    return bits.view(target)


def case(kind, kernel, source, target, expected):
    def inputs():
        out = output(target, N)
        return {"x_ptr": samples(source), "out_ptr": out, "n": N, "BLOCK": BLOCK}

    return Case(
        name=f"{kind} {source} to {target}",
        kernel=kernel,
        grid=GRID,
        inputs=inputs,
        expected=lambda a: {"out_ptr": expected(a["x_ptr"], target)},
        signed_zeros=True,
    )


BITCASTS = [
    ("float32", "int32"),
    ("uint32", "float32"),
    ("float16", "int16"),
    ("uint16", "bfloat16"),
    ("bfloat16", "float16"),
    ("float64", "uint64"),
    ("int8", "uint8"),
    ("int64", "float64"),
]
NARROWING = [("float32", "float16"), ("float32", "bfloat16"), ("float64", "float32")]
IMPLICIT = [("float32", "int1"), ("int32", "int1"), ("float32", "bfloat16"), ("int64", "int8")]


def cases():
    pairs = [(a, b) for a in ALL for b in ALL if a != b]
    return [
        *(case("convert", convert_kernel, a, b, converted) for a, b in pairs),
        *(case("store converts", implicit_kernel, a, b, converted) for a, b in IMPLICIT),
        *(
            case("bitcast", bitcast_kernel, a, b, lambda x, name: x.view(numpy_type(name)))
            for a, b in BITCASTS
        ),
        *(case("toward zero", toward_zero_kernel, a, b, truncated) for a, b in NARROWING),
    ]
