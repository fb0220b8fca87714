"""Operators on tiles: every operator with every dtype, the type rules, and weak literals."""

import numpy as np

import enceladus
import enceladus.language as tl

from .case import (
    ALL,
    FLOATS,
    INTEGERS,
    NUMBERS,
    Case,
    Tolerance,
    extreme,
    numpy_type,
    output,
    quiet,
    wide,
)

N, BLOCK = 300, 128
GRID = (3,)


@enceladus.jit
def binary_kernel(x_ptr, y_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask, other=1)
    if OP == "+":
        result = x + y
    elif OP == "-":
        result = x - y
    elif OP == "*":
        result = x * y
    elif OP == "/":
        result = x / y
    elif OP == "//":
        result = x // y
    elif OP == "%":
        result = x % y
    elif OP == "&":
        result = x & y
    elif OP == "|":
        result = x | y
    elif OP == "^":
        result = x ^ y
    elif OP == "<<":
        result = x << y
    else:
        result = x >> y
    tl.store(out_ptr + offsets, result, mask=mask)


@enceladus.jit
def compare_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    bits = (x == y) | ((x != y).to(tl.int32) << 1) | ((x < y).to(tl.int32) << 2)
    bits |= ((x <= y).to(tl.int32) << 3) | ((x > y).to(tl.int32) << 4)
    bits |= (x >= y).to(tl.int32) << 5
    tl.store(out_ptr + offsets, bits, mask=mask)


@enceladus.jit
def unary_kernel(x_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    if OP == "-":
        result = -x
    elif OP == "~":
        result = ~x
    elif OP == "abs":
        result = tl.abs(x)
    elif OP == "**2":
        result = x**2
    elif OP == "**3":
        result = x**3
    elif OP == "**0":
        result = x**0
    else:
        result = x**-1
    tl.store(out_ptr + offsets, result, mask=mask)


@enceladus.jit
def literal_kernel(x_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    if OP == "x+1":
        result = x + 1
    elif OP == "3-x":
        result = 3 - x
    elif OP == "x*2.5":
        result = x * 2.5
    elif OP == "x+1000":
        result = x + 1000
    elif OP == "x//7":
        result = x // 7
    elif OP == "x%-7":
        result = x % -7
    elif OP == "1<<x&7":
        result = 1 << (x & 7)
    else:
        result = x >> 3
    tl.static_assert(result.dtype == out_ptr.dtype.element_ty)
    tl.store(out_ptr + offsets, result, mask=mask)


def truncated(x, y):
    """The quotient toward zero and the remainder, exactly, then wrapped to the type."""
    exact_x, exact_y = x.astype(object), y.astype(object)
    quotient = np.array(
        [abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(exact_x, exact_y)],
        dtype=object,
    )
    return wrap(quotient, x.dtype), wrap(exact_x - quotient * exact_y, x.dtype)


def wrap(values, dtype):
    """Python integers modulo the width of a NumPy type."""
    bits = 8 * dtype.itemsize
    unsigned = np.array([int(v) % 2**bits for v in values], dtype=f"u{dtype.itemsize}")
    return unsigned.view(dtype)


def rounded_to(dtype, function, x, y):
    return np.asarray(function(wide(x), wide(y))).astype(dtype)


@quiet
def reference(op, x, y):
    dtype = x.dtype
    if dtype.kind == "b":
        return {"&": x & y, "|": x | y, "^": x ^ y}[op]
    if op in ("+", "-", "*"):
        function = {"+": np.add, "-": np.subtract, "*": np.multiply}[op]
        return rounded_to(dtype, function, x, y)
    if op == "/":
        if dtype.kind in "iu":
            return x.astype(np.float32) / y.astype(np.float32)
        return rounded_to(dtype, np.true_divide, x, y)
    if op in ("//", "%") and dtype.kind in "iu":
        quotient, remainder = truncated(x, y)
        return quotient if op == "//" else remainder
    if op == "%":
        return rounded_to(dtype, np.fmod, x, y)
    if op in ("<<", ">>"):
        amount = y.astype(object) % (8 * dtype.itemsize)
        shifted = x.astype(object) << amount if op == "<<" else x.astype(object) >> amount
        return wrap(shifted, dtype)
    return {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}[op](x, y)


DIVISION = Tolerance(ulps=2.5, why="`/` is within 2.5 ulp")


def binary_case(op, name, num_warps):
    result = "float32" if op == "/" and name in INTEGERS else name

    def inputs():
        x, y = extreme(name, N, seed="x"), extreme(name, N, seed="y")
        if op in ("//", "%") and name in INTEGERS:
            y[y == 0] = 3
        out = output(result, N)
        return {"x_ptr": x, "y_ptr": y, "out_ptr": out, "n": N, "OP": op, "BLOCK": BLOCK}

    return Case(
        name=f"binary {op} {name}",
        kernel=binary_kernel,
        grid=GRID,
        inputs=inputs,
        expected=lambda a: {"out_ptr": reference(op, a["x_ptr"], a["y_ptr"])},
        tolerance=DIVISION if op == "/" else Tolerance(),
        num_warps=num_warps,
        signed_zeros=op != "%" and name in FLOATS,
    )


def compare_case(name, num_warps):
    def inputs():
        x, y = extreme(name, N, seed="x"), extreme(name, N, seed="y")
        y[::5] = x[::5]
        return {"x_ptr": x, "y_ptr": y, "out_ptr": output("int32", N), "n": N, "BLOCK": BLOCK}

    def expected(a):
        x, y = wide(a["x_ptr"]), wide(a["y_ptr"])
        results = (x == y, x != y, x < y, x <= y, x > y, x >= y)
        return {"out_ptr": sum(r.astype(np.int32) << i for i, r in enumerate(results))}

    return Case(f"compare {name}", compare_kernel, GRID, inputs, expected, num_warps=num_warps)


@quiet
def unary_reference(op, x):
    if op == "-":
        return -x.astype(np.int32) if x.dtype.kind == "b" else np.negative(x)
    if op == "~":
        return np.invert(x)
    if op == "abs":
        return np.abs(x)
    if op == "**0":
        return np.ones_like(x)
    if op == "**-1":
        return (1 / wide(x)).astype(x.dtype)
    square = (wide(x) * wide(x)).astype(x.dtype)
    return square if op == "**2" else (wide(x) * wide(square)).astype(x.dtype)


def unary_case(op, name, num_warps):
    result = "int32" if op == "-" and name == "int1" else name

    def inputs():
        x, out = extreme(name, N), output(result, N)
        return {"x_ptr": x, "out_ptr": out, "n": N, "OP": op, "BLOCK": BLOCK}

    return Case(
        name=f"unary {op} {name}",
        kernel=unary_kernel,
        grid=GRID,
        inputs=inputs,
        expected=lambda a: {"out_ptr": unary_reference(op, a["x_ptr"])},
        tolerance=DIVISION if op == "**-1" else Tolerance(),
        num_warps=num_warps,
        signed_zeros=name in FLOATS,
    )


@quiet
def literal_reference(op, x, result):
    kind = numpy_type(result)
    if op == "x*2.5":
        return (wide(x).astype(kind if kind.itemsize > 2 else np.float32) * 2.5).astype(kind)
    if op in ("x//7", "x%-7"):
        typed = x.astype(kind)
        parts = truncated(typed, np.full_like(typed, 7 if op == "x//7" else -7))
        return parts[0 if op == "x//7" else 1]
    if x.dtype.kind == "f" or x.dtype.kind == "V":
        one = {"x+1": wide(x) + 1, "3-x": 3 - wide(x), "x+1000": wide(x) + 1000}[op]
        return one.astype(kind)
    exact = x.astype(np.int32 if x.dtype.kind == "b" else x.dtype).astype(object)
    value = {
        "x+1": lambda: exact + 1,
        "3-x": lambda: 3 - exact,
        "x+1000": lambda: exact + 1000,
        "1<<x&7": lambda: 1 << (exact & 7),
        "x>>3": lambda: exact >> 3,
    }[op]()
    return wrap(value, kind)


def literal_case(op, name, result):
    def inputs():
        x, out = extreme(name, N), output(result, N)
        return {"x_ptr": x, "out_ptr": out, "n": N, "OP": op, "BLOCK": BLOCK}

    return Case(
        name=f"literal {op} {name} gives {result}",
        kernel=literal_kernel,
        grid=GRID,
        inputs=inputs,
        expected=lambda a: {"out_ptr": literal_reference(op, a["x_ptr"], result)},
    )


LITERALS = [
    ("x+1", "int1", "int32"),
    ("x+1", "int8", "int8"),
    ("x+1", "uint64", "uint64"),
    ("x+1", "float16", "float16"),
    ("x+1", "bfloat16", "bfloat16"),
    ("3-x", "int16", "int16"),
    ("3-x", "uint32", "uint32"),
    ("3-x", "float64", "float64"),
    ("x*2.5", "int1", "float32"),
    ("x*2.5", "int8", "float32"),
    ("x*2.5", "float16", "float16"),
    ("x*2.5", "float64", "float64"),
    ("x+1000", "int8", "int32"),
    ("x+1000", "uint8", "int32"),
    ("x+1000", "int64", "int64"),
    ("x//7", "int32", "int32"),
    ("x//7", "uint8", "uint8"),
    ("x//7", "int64", "int64"),
    ("x%-7", "int32", "int32"),
    ("x%-7", "int8", "int8"),
    ("x%-7", "uint8", "int32"),
    ("1<<x&7", "int32", "int32"),
    ("1<<x&7", "int64", "int64"),
    ("x>>3", "int32", "int32"),
    ("x>>3", "uint16", "uint16"),
]


def cases():
    warps = (1, 4, 8)
    pairs = [(op, name) for op in ("+", "-", "*", "/") for name in NUMBERS]
    pairs += [(op, name) for op in ("//", "%", "<<", ">>") for name in INTEGERS]
    pairs += [(op, name) for op in ("&", "|", "^") for name in ("int1", *INTEGERS)]
    pairs += [("%", name) for name in FLOATS]
    unary = [("-", name) for name in ALL] + [("~", name) for name in ("int1", *INTEGERS)]
    unary += [("abs", name) for name in NUMBERS]
    unary += [(op, name) for op in ("**0", "**2", "**3") for name in ("int32", "uint8", "float32")]
    unary += [("**2", "float16"), ("**3", "bfloat16"), ("**-1", "float32"), ("**-1", "float16")]
    return [
        *(binary_case(op, name, warps[i % 3]) for i, (op, name) in enumerate(pairs)),
        *(compare_case(name, warps[i % 3]) for i, name in enumerate(ALL)),
        *(unary_case(op, name, warps[i % 3]) for i, (op, name) in enumerate(unary)),
        *(literal_case(*row) for row in LITERALS),
    ]
