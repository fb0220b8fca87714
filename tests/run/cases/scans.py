"""Running sums and products, and scans by functions of the user's, also non-commutative ones."""

import numpy as np

import enceladus
import enceladus.language as tl

from .case import ALL, FLOATS, HALVES, Case, Tolerance, numpy_type, plain, quiet, rounded

R, C = 4, 64


@enceladus.jit
def running_kernel(
    x_ptr,
    out_ptr,
    OP: tl.constexpr,
    AXIS: tl.constexpr,
    REVERSE: tl.constexpr,
    R: tl.constexpr,
    C: tl.constexpr,
):
    places = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    x = tl.load(x_ptr + places)
    if OP == "cumsum":
        result = tl.cumsum(x, axis=AXIS, reverse=REVERSE)
    else:
        result = tl.cumprod(x, axis=AXIS, reverse=REVERSE)
    tl.store(out_ptr + places, result)


@enceladus.jit
def larger(a, b):
    return tl.maximum(a, b)


@enceladus.jit
def compose(scale_a, shift_a, scale_b, shift_b):
    return scale_a * scale_b, shift_a * scale_b + shift_b


@enceladus.jit
def later(a, b):
    return tl.where(b != 0, b, a)


@enceladus.jit
def scan_kernel(
    x_ptr,
    out_ptr,
    OP: tl.constexpr,
    AXIS: tl.constexpr,
    REVERSE: tl.constexpr,
    R: tl.constexpr,
    C: tl.constexpr,
):
    places = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    x = tl.load(x_ptr + places)
    if OP == "larger":
        result = tl.associative_scan(x, AXIS, larger, reverse=REVERSE)
    else:
        result = tl.associative_scan(x, AXIS, later, REVERSE)
    tl.store(out_ptr + places, result)


@enceladus.jit
def linear_kernel(a_ptr, b_ptr, out_ptr, REVERSE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    a, b = tl.load(a_ptr + offsets), tl.load(b_ptr + offsets)
    _, shift = tl.associative_scan((a, b), 0, compose, reverse=REVERSE)
    tl.store(out_ptr + offsets, shift)


def scan_type(name):
    narrow = name in ("int1", "int8", "int16", "uint8", "uint16")
    return "int32" if narrow else name


@quiet
def running(op, x, axis, reverse, kind):
    values = np.flip(x, axis) if reverse else x
    function = np.add if op == "cumsum" else np.multiply
    wide = values.astype(np.float64 if kind.kind not in "iu" else kind)
    result = function.accumulate(wide, axis=axis, dtype=wide.dtype)
    return np.flip(result, axis) if reverse else result


def running_case(op, name, axis, reverse, num_warps):
    kind = numpy_type(scan_type(name))

    def inputs():
        x = plain(name, R, C)
        if op == "cumprod" and name in FLOATS:
            x = np.exp(x.astype(np.float64) * 0.1).astype(numpy_type(name))
        out = np.ones((R, C), kind)
        return {
            "x_ptr": x,
            "out_ptr": out,
            "OP": op,
            "AXIS": axis,
            "REVERSE": reverse,
            "R": R,
            "C": C,
        }

    size = 16.0 if op == "cumsum" else 1.0
    return Case(
        name=f"{op} {name} axis {axis}" + (" reversed" if reverse else ""),
        kernel=running_kernel,
        grid=(1,),
        inputs=inputs,
        expected=lambda a: {"out_ptr": running(op, a["x_ptr"], axis, reverse, kind)},
        tolerance=rounded(name, size),
        num_warps=num_warps,
    )


def last_nonzero(row):
    result, seen = [], row[0]
    for value in row:
        seen = value if value != 0 else seen
        result.append(seen)
    return result


def scan_case(op, name, axis, reverse, num_warps):
    def inputs():
        x = plain(name, R, C)
        x[plain("int1", R, C, seed="zeros")] = 0
        out = np.ones_like(x)
        return {
            "x_ptr": x,
            "out_ptr": out,
            "OP": op,
            "AXIS": axis,
            "REVERSE": reverse,
            "R": R,
            "C": C,
        }

    def expected(a):
        x = np.moveaxis(a["x_ptr"], axis, -1)
        x = x[:, ::-1] if reverse else x
        if op == "larger":
            result = np.maximum.accumulate(x.astype(np.float64), axis=-1).astype(x.dtype)
        else:
            result = np.array([last_nonzero(row) for row in x], x.dtype)
        result = result[:, ::-1] if reverse else result
        return {"out_ptr": np.moveaxis(result, -1, axis)}

    return Case(
        name=f"scan {op} {name} axis {axis}" + (" reversed" if reverse else ""),
        kernel=scan_kernel,
        grid=(1,),
        inputs=inputs,
        expected=expected,
        num_warps=num_warps,
    )


def linear_case(reverse):
    def inputs():
        a = np.exp(plain("float32", 128, seed="a") * 0.1).astype(np.float32)
        b = plain("float32", 128, seed="b")
        out = np.zeros(128, np.float32)
        return {"a_ptr": a, "b_ptr": b, "out_ptr": out, "REVERSE": reverse, "BLOCK": 128}

    def expected(a):
        order = range(127, -1, -1) if reverse else range(128)
        state, result = 0.0, np.zeros(128)
        for i in order:
            state = state * float(a["a_ptr"][i]) + float(a["b_ptr"][i])
            result[i] = state
        return {"out_ptr": result}

    return Case(
        name="scan a linear recurrence" + (" reversed" if reverse else ""),
        kernel=linear_kernel,
        grid=(1,),
        inputs=inputs,
        expected=expected,
        tolerance=Tolerance(1e-5, 1e-4, why="sums of size 10 with factors around 1"),
    )


def cases():
    warps = (1, 4, 8)
    rows = [("cumsum", name, 1, False) for name in ALL]
    rows += [
        ("cumsum", name, axis, reverse)
        for name in ("float32", "int32", "float16")
        for axis, reverse in ((0, False), (1, True))
    ]
    rows += [
        ("cumprod", name, 1, reverse)
        for name in ("float32", "int32", *HALVES)
        for reverse in (False, True)
    ]
    scans = [
        (op, name, axis, reverse)
        for op in ("larger", "later")
        for name in ("float32", "int32")
        for axis in (0, 1)
        for reverse in (False, True)
    ]
    return [
        *(running_case(*row, warps[i % 3]) for i, row in enumerate(rows)),
        *(scan_case(*row, warps[i % 3]) for i, row in enumerate(scans)),
        linear_case(False),
        linear_case(True),
    ]
