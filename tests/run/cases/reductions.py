"""Reductions along every axis with every dtype, and combine functions of the user's."""

import numpy as np

import enceladus
import enceladus.language as tl

from .case import (
    ALL,
    FLOATS,
    HALVES,
    INTEGERS,
    Case,
    Tolerance,
    extreme,
    numpy_type,
    output,
    plain,
    quiet,
    rounded,
    wide,
)

R, C = 8, 64


@enceladus.jit
def reduce_kernel(
    x_ptr,
    out_ptr,
    OP: tl.constexpr,
    AXIS: tl.constexpr,
    KEEP: tl.constexpr,
    R: tl.constexpr,
    C: tl.constexpr,
):
    rows, columns = tl.arange(0, R), tl.arange(0, C)
    x = tl.load(x_ptr + rows[:, None] * C + columns[None, :])
    if OP == "sum":
        result = tl.sum(x, axis=AXIS, keep_dims=KEEP)
    elif OP == "max":
        result = tl.max(x, axis=AXIS, keep_dims=KEEP)
    elif OP == "min":
        result = tl.min(x, axis=AXIS, keep_dims=KEEP)
    elif OP == "argmax":
        result = tl.argmax(x, axis=AXIS, keep_dims=KEEP)
    elif OP == "argmin":
        result = tl.argmin(x, axis=AXIS, keep_dims=KEEP)
    else:
        result = tl.xor_sum(x, axis=AXIS, keep_dims=KEEP)
    if result.numel == 1:
        tl.store(out_ptr, tl.sum(result) if KEEP else result)
    else:
        flat = tl.ravel(result)
        tl.store(out_ptr + tl.arange(0, flat.numel), flat)


@enceladus.jit
def indices_kernel(
    x_ptr, value_ptr, index_ptr, LARGEST: tl.constexpr, R: tl.constexpr, C: tl.constexpr
):
    rows, columns = tl.arange(0, R), tl.arange(0, C)
    x = tl.load(x_ptr + rows[:, None] * C + columns[None, :])
    if LARGEST:
        value, index = tl.max(x, axis=1, return_indices=True)
    else:
        value, index = tl.min(x, axis=1, return_indices=True)
    tl.store(value_ptr + rows, value)
    tl.store(index_ptr + rows, index)


@enceladus.jit
def multiply(a, b):
    return a * b


@enceladus.jit
def first_largest(value_a, index_a, value_b, index_b):
    take = (value_a > value_b) | ((value_a == value_b) & (index_a < index_b))
    return tl.where(take, value_a, value_b), tl.where(take, index_a, index_b)


@enceladus.jit
def product_kernel(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    rows, columns = tl.arange(0, R), tl.arange(0, C)
    x = tl.load(x_ptr + rows[:, None] * C + columns[None, :])
    tl.store(out_ptr + columns, tl.reduce(x, 0, multiply))


@enceladus.jit
def tuple_kernel(x_ptr, value_ptr, index_ptr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    value, place = tl.reduce((tl.load(x_ptr + index), index), 0, first_largest)
    tl.store(value_ptr, value)
    tl.store(index_ptr, place)


@enceladus.jit
def typed_sum_kernel(x_ptr, out_ptr, DTYPE: tl.constexpr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.sum(x, axis=0, dtype=DTYPE))


@enceladus.jit
def long_sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = 0.0
    for start in range(0, n, BLOCK):
        total += tl.sum(tl.load(x_ptr + start + offsets, mask=start + offsets < n), axis=0)
    tl.store(out_ptr, total)


def result_dtype(op, name):
    if op.startswith("arg"):
        return "int32"
    narrow = name == "int1" or (name in INTEGERS and numpy_type(name).itemsize < 4)
    return "int32" if op == "sum" and narrow else name


@quiet
def reference(op, x, axis):
    """NumPy's reduction, in float64 for sums; NaN ignored by the extrema, index 0 where all are."""
    values = wide(x)
    if op == "sum":
        if x.dtype.kind in "iub":
            total = x.astype(object).sum(axis=axis)
            kind = numpy_type(result_dtype("sum", "int1" if x.dtype.kind == "b" else x.dtype.name))
            bits = 8 * kind.itemsize
            flat = [int(v) % 2**bits for v in np.atleast_1d(total).ravel()]
            return np.array(flat, f"u{kind.itemsize}").view(kind)
        return values.astype(np.float64).sum(axis=axis)
    if op in ("max", "min"):
        return (np.fmax if op == "max" else np.fmin).reduce(values, axis=axis)
    if op == "xor_sum":
        return np.bitwise_xor.reduce(x, axis=axis)
    low = values if op == "argmax" else negated(values)
    flat = low.reshape(1, -1) if axis is None else np.moveaxis(low, axis, -1)
    return np.array([first_best(row) for row in flat])


def negated(values):
    """An order-reversing image of the values: exact for every type, the minimum included."""
    return np.invert(values) if values.dtype.kind in "iub" else -values


def first_best(row):
    present = [i for i, value in enumerate(row) if value == value]
    return max(present, key=lambda i: (row[i], -i)) if present else 0


def with_nan_row(x):
    if x.dtype.kind not in "iub":
        x[2, :] = np.nan
        x[:, 5] = np.nan
    return x


def reduce_case(op, name, axis, keep, num_warps):
    extremes = op != "sum" or name in INTEGERS

    def inputs():
        x = extreme(name, R, C) if extremes else plain(name, R, C)
        size = {0: C, 1: R, -1: R, None: 1}[axis]
        out = output(result_dtype(op, name), size)
        x = with_nan_row(x) if extremes else x
        return {"x_ptr": x, "out_ptr": out, "OP": op, "AXIS": axis, "KEEP": keep, "R": R, "C": C}

    def expected(a):
        return {"out_ptr": np.atleast_1d(reference(op, a["x_ptr"], axis))}

    # A sum of n values of size 2 has partial sums of size about 2 * sqrt(n).
    size = {0: 6.0, 1: 16.0, -1: 16.0, None: 45.0}[axis]
    return Case(
        name=f"{op} {name} axis {axis}" + (" kept" if keep else ""),
        kernel=reduce_kernel,
        grid=(1,),
        inputs=inputs,
        expected=expected,
        tolerance=rounded(name, size) if op == "sum" and name in FLOATS else Tolerance(),
        num_warps=num_warps,
    )


def indices_case(name, largest):
    op = "max" if largest else "min"

    def inputs():
        return {
            "x_ptr": with_nan_row(extreme(name, R, C)),
            "value_ptr": output(name, R),
            "index_ptr": output("int32", R),
            "LARGEST": largest,
            "R": R,
            "C": C,
        }

    def expected(a):
        index = reference(f"arg{op}", a["x_ptr"], 1)
        value = np.array([row[i] for row, i in zip(a["x_ptr"], index)], a["x_ptr"].dtype)
        return {"value_ptr": value, "index_ptr": index}

    return Case(f"{op} with indices {name}", indices_kernel, (1,), inputs, expected)


def product_case(name):
    def inputs():
        x = plain(name, R, C, scale=1.0)
        return {"x_ptr": x, "out_ptr": output(name, C), "R": R, "C": C}

    @quiet
    def expected(a):
        if name in FLOATS:
            return {"out_ptr": a["x_ptr"].astype(np.float64).prod(axis=0)}
        return {"out_ptr": np.multiply.reduce(a["x_ptr"], axis=0, dtype=a["x_ptr"].dtype)}

    relative = {"float16": 8 * 2.0**-11, "bfloat16": 8 * 2.0**-8, "float32": 1e-5}.get(name, 0.0)
    tolerance = Tolerance(relative, relative * 1e-2, why="each of seven products rounds once")
    return Case(f"reduce by a product {name}", product_kernel, (1,), inputs, expected, tolerance)


def tuple_case(name):
    def inputs():
        x = plain(name, 128)
        x[[17, 99]] = x.max()
        out = output(name, 1)
        return {"x_ptr": x, "value_ptr": out, "index_ptr": output("int32", 1), "BLOCK": 128}

    def expected(a):
        index = int(np.argmax(a["x_ptr"]))
        return {"value_ptr": a["x_ptr"][index : index + 1], "index_ptr": np.array([index])}

    return Case(f"reduce a tuple {name}", tuple_kernel, (1,), inputs, expected)


def typed_sum_case(name, target):
    def inputs():
        out = output(target, 1)
        element = getattr(tl, target)
        return {"x_ptr": plain(name, 256), "out_ptr": out, "DTYPE": element, "BLOCK": 256}

    def expected(a):
        kind = np.float64 if target in FLOATS else numpy_type(target)
        return {"out_ptr": a["x_ptr"].astype(kind).sum(keepdims=True, dtype=kind)}

    return Case(
        name=f"sum {name} as {target}",
        kernel=typed_sum_kernel,
        grid=(1,),
        inputs=inputs,
        expected=expected,
        tolerance=rounded(target, 32.0),
    )


LONG_SUM = Case(
    name="sum of any length",
    kernel=long_sum_kernel,
    grid=(1,),
    inputs=lambda: {
        "x_ptr": plain("float32", 5000),
        "out_ptr": output("float32", 1),
        "n": 5000,
        "BLOCK": 512,
    },
    expected=lambda a: {"out_ptr": a["x_ptr"].astype(np.float64).sum(keepdims=True)},
    tolerance=rounded("float32", 140.0),
)


def cases():
    warps = (1, 4, 8)
    rows = [
        (op, name, 1, False) for op in ("sum", "max", "min", "argmax", "argmin") for name in ALL
    ]
    rows += [("xor_sum", name, 1, False) for name in ("int1", *INTEGERS)]
    few = ("float32", "int32", "float16", "int8")
    for op in ("sum", "max", "argmin"):
        rows += [(op, name, axis, False) for name in few for axis in (0, None)]
    rows += [(op, "float32", axis, True) for op in ("sum", "min", "argmax") for axis in (0, 1, -1)]
    rows += [("sum", "float32", None, True), ("xor_sum", "int32", None, False)]
    return [
        *(reduce_case(*row, warps[i % 3]) for i, row in enumerate(rows)),
        *(
            indices_case(name, largest)
            for name in ("float32", "float16", "int32")
            for largest in (True, False)
        ),
        *(product_case(name) for name in ("float32", *HALVES, "int32", "int8")),
        *(tuple_case(name) for name in ("float32", "int32")),
        typed_sum_case("float16", "float32"),
        typed_sum_case("int8", "int64"),
        typed_sum_case("float32", "float64"),
        typed_sum_case("int32", "float32"),
        LONG_SUM,
    ]
