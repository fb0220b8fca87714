"""Elementwise functions: math, extrema with NaN, selection, clamp, fma, high products."""

import math
from fractions import Fraction

import numpy as np

import enceladus
import enceladus.language as tl

from .case import (
    ALL,
    FLOATS,
    NUMBERS,
    Case,
    Tolerance,
    extreme,
    generator,
    numpy_type,
    output,
    plain,
    quiet,
    wide,
)

N, BLOCK = 500, 256
GRID = (2,)


@enceladus.jit
def math_kernel(x_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.5)
    if OP == "exp":
        result = tl.exp(x)
    elif OP == "exp2":
        result = tl.exp2(x)
    elif OP == "log":
        result = tl.log(x)
    elif OP == "log2":
        result = tl.math.log2(x)
    elif OP == "sqrt":
        result = tl.sqrt(x)
    elif OP == "sqrt_rn":
        result = tl.sqrt_rn(x)
    elif OP == "rsqrt":
        result = tl.extra.libdevice.rsqrt(x)
    elif OP == "sin":
        result = tl.sin(x)
    elif OP == "cos":
        result = x.cos()
    elif OP == "tanh":
        result = tl.tanh(x)
    elif OP == "erf":
        result = tl.erf(x)
    elif OP == "floor":
        result = tl.floor(x)
    elif OP == "ceil":
        result = tl.ceil(x)
    else:
        result = tl.sigmoid(x)
    tl.store(out_ptr + offsets, result, mask=mask)


@enceladus.jit
def pair_kernel(x_ptr, y_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask, other=1)
    if OP == "maximum":
        result = tl.maximum(x, y)
    elif OP == "minimum":
        result = tl.minimum(x, y)
    elif OP == "maximum all":
        result = tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)
    elif OP == "minimum all":
        result = tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)
    elif OP == "where":
        result = tl.where(x > y, x, y)
    elif OP == "clamp":
        result = tl.clamp(x, -1.0, y)
    elif OP == "div_rn":
        result = tl.div_rn(x, y)
    else:
        result = tl.umulhi(x, y)
    tl.store(out_ptr + offsets, result, mask=mask)


@enceladus.jit
def fma_kernel(x_ptr, y_ptr, z_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    z = tl.load(z_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.fma(x, y, z), mask=mask)


REFERENCES = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sqrt": np.sqrt,
    "sqrt_rn": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "floor": np.floor,
    "ceil": np.ceil,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}
EXACTLY = ("floor", "ceil", "sqrt_rn")
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1e-3, 80.0, -80.0, 130.0, -130.0]


@quiet
def arguments_of(op, name):
    """Arguments over the range where a function is interesting, and the special values."""
    random = generator("math", op, name)
    if op in ("log", "log2", "sqrt", "sqrt_rn", "rsqrt"):
        values = np.exp(random.standard_normal(N) * 8)
    elif op in ("sin", "cos"):
        values = random.standard_normal(N) * 10.0 ** random.integers(-2, 5, N)
        values = np.clip(values, -1e5, 1e5)
    else:
        values = random.standard_normal(N) * 10.0 ** random.integers(-3, 2, N)
    values[: len(SPECIAL)] = SPECIAL
    return values.astype(numpy_type(name))


def math_tolerance(op, name):
    if op in EXACTLY:
        return Tolerance()
    if name == "float64":
        return Tolerance(ulps=4, absolute=1e-15, why="float64 within 4 ulp")
    if name == "float32":
        ulps = 2.5 if op == "sqrt" else 8 if op == "sigmoid" else 4
        return Tolerance(ulps=ulps, absolute=1e-7, why="float32 functions are within 4 ulp")
    return Tolerance(ulps=1, why="computed in float32, then rounded once: 1 ulp beside a tie")


def math_case(op, name, num_warps):
    def inputs():
        x = arguments_of(op, name)
        return {"x_ptr": x, "out_ptr": output(name, N), "n": N, "OP": op, "BLOCK": BLOCK}

    @quiet
    def expected(a):
        exact = REFERENCES[op](a["x_ptr"].astype(np.float64))
        rounded = np.asarray(exact).astype(np.float32) if name != "float64" else exact
        return {"out_ptr": rounded.astype(numpy_type(name)) if op in EXACTLY else exact}

    return Case(
        name=f"math {op} {name}",
        kernel=math_kernel,
        grid=GRID,
        inputs=inputs,
        expected=expected,
        tolerance=math_tolerance(op, name),
        num_warps=num_warps,
        signed_zeros=op in EXACTLY,
    )


def high_product(x, y):
    bits = 8 * x.dtype.itemsize
    unsigned = f"u{x.dtype.itemsize}"
    exact = x.view(unsigned).astype(object) * y.view(unsigned).astype(object)
    return np.array([value >> bits for value in exact], dtype=unsigned).view(x.dtype)


@quiet
def pair_reference(op, x, y):
    a, b = wide(x), wide(y)
    results = {
        "maximum": lambda: np.fmax(a, b),
        "minimum": lambda: np.fmin(a, b),
        "maximum all": lambda: np.maximum(a, b),
        "minimum all": lambda: np.minimum(a, b),
        "where": lambda: np.where(a > b, a, b),
        "clamp": lambda: np.fmin(np.fmax(a, a.dtype.type(-1)), b),
        "div_rn": lambda: a / b,
        "umulhi": lambda: high_product(x, y),
    }
    return np.asarray(results[op]()).astype(x.dtype)


def pair_case(op, name, num_warps):
    def inputs():
        x, y = extreme(name, N, seed="x"), extreme(name, N, seed="y")
        out = output(name, N)
        return {"x_ptr": x, "y_ptr": y, "out_ptr": out, "n": N, "OP": op, "BLOCK": BLOCK}

    return Case(
        name=f"pair {op} {name}",
        kernel=pair_kernel,
        grid=GRID,
        inputs=inputs,
        expected=lambda a: {"out_ptr": pair_reference(op, a["x_ptr"], a["y_ptr"])},
        num_warps=num_warps,
    )


def fma_case(name):
    def inputs():
        arguments = {f"{part}_ptr": plain(name, N, seed=part) for part in "xyz"}
        # The rounded product cancels exactly, so that only a fused operation leaves something.
        product = wide(arguments["x_ptr"]) * wide(arguments["y_ptr"])
        arguments["z_ptr"][::2] = (-product).astype(numpy_type(name))[::2]
        return {**arguments, "out_ptr": output(name, N), "n": N, "BLOCK": BLOCK}

    def expected(a):
        parts = zip(a["x_ptr"], a["y_ptr"], a["z_ptr"])
        exact = [
            float(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))) for x, y, z in parts
        ]
        return {"out_ptr": np.array(exact)}

    why = "one rounding, of a float32 result for the narrow types; float64 to float32 adds a tie"
    return Case(
        name=f"fma {name}",
        kernel=fma_kernel,
        grid=GRID,
        inputs=inputs,
        expected=expected,
        tolerance=Tolerance(ulps=0.51 if name in ("float32", "float64") else 1, why=why),
    )


def cases():
    warps = (1, 4, 8)
    functions = [(op, name) for op in REFERENCES for name in FLOATS]
    pairs = [(op, name) for op in ("maximum", "minimum") for name in NUMBERS]
    pairs += [("where", name) for name in ALL]
    pairs += [(f"{op} all", name) for op in ("maximum", "minimum") for name in FLOATS]
    pairs += [(op, name) for op in ("clamp", "div_rn") for name in FLOATS]
    pairs += [("umulhi", name) for name in ("int32", "uint32", "int64", "uint64")]
    return [
        *(math_case(op, name, warps[i % 3]) for i, (op, name) in enumerate(functions)),
        *(pair_case(op, name, warps[i % 3]) for i, (op, name) in enumerate(pairs)),
        *(fma_case(name) for name in FLOATS),
    ]
