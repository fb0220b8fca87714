"""Floats of 8 bits: every code converted both ways, moved, chosen, and multiplied."""

import bisect
import functools
from fractions import Fraction

import numpy as np

import enceladus
import enceladus.language as tl

from .case import (
    ALL,
    EXACT,
    FLOAT8,
    Case,
    Tolerance,
    generator,
    numpy_type,
    output,
    plain,
    quiet,
    rounded,
)
from .compare import is_float
from .conversions import (
    bitcast_kernel,
    convert_kernel,
    implicit_kernel,
    samples,
    to_integer,
    toward_zero_kernel,
)
from .products import dot_kernel, pointer_matmul_kernel, product, size

BLOCK = 256
CODES = np.arange(256, dtype=np.uint8)


@enceladus.jit
def choose_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=1.5)
    y = tl.load(y_ptr + (BLOCK - 1 - offsets), mask=offsets % 3 == 0, other=float("nan"))
    chosen = tl.where(offsets % 2 == 0, x, y)
    tl.store(out_ptr + offsets, tl.where(offsets % 5 == 0, chosen, 0.25), mask=mask)


@enceladus.jit
def turn_kernel(x_ptr, out_ptr, scale, R: tl.constexpr, C: tl.constexpr):
    rows, columns = tl.arange(0, R), tl.arange(0, C)
    x = tl.load(x_ptr + rows[:, None] * C + columns[None, :])
    held = tl.full((C, R), scale, x.dtype)
    for i in range(3):
        held = tl.where(i == 2, tl.trans(x), held)
    flat = tl.reshape(held, (C * R,))
    tl.store(out_ptr + tl.arange(0, C * R), flat)
    tl.store(out_ptr + C * R, scale)
    tl.store(out_ptr + C * R + 1, tl.load(x_ptr).to(tl.int1).to(tl.float32))


@enceladus.jit
def padded_kernel(x_ptr, out_ptr, M, N, B: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [B, B], padding_option="nan")
    out = tl.make_tensor_descriptor(out_ptr, [B, B], [B, 1], [B, B])
    out.store([0, 0], x.load([3, 5]))


@enceladus.jit
def sum_kernel(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    wide = x.to(tl.float16)
    tl.store(out_ptr, tl.sum(x, dtype=tl.float32))
    tl.store(out_ptr + 1, tl.sum((x + wide).to(tl.float32)))


@enceladus.jit
def accumulate_kernel(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + n[:, None] * K + k[None, :]).T
    places = c_ptr + m[:, None] * N + n[None, :]
    tl.store(places, tl.dot(a, b, tl.load(places), max_num_imprecise_acc=0))


# B lies by columns, [N, K] in memory, as the matrix units take bytes.
@enceladus.jit
def columns_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bn, stride_cm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, IMPRECISE: tl.constexpr,
):  # fmt: skip
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [stride_am, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [stride_bn, 1], [BN, BK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [stride_cm, 1], [BM, BN])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        left = a.load([pid_m * BM, k])
        right = b.load([pid_n * BN, k])
        acc = tl.dot(left, right.T, acc, max_num_imprecise_acc=IMPRECISE)
    c.store([pid_m * BM, pid_n * BN], acc.to(c.dtype))


@functools.cache
def finite(name):
    """The finite magnitudes by their codes, from 0 up."""
    values = CODES[:128].view(numpy_type(name)).astype(np.float64)
    return [Fraction(value) for value in values[np.isfinite(values)]]


@functools.cache
def middles(name):
    """Between each magnitude and the next."""
    table = finite(name)
    return [(below + above) / 2 for below, above in zip(table, table[1:], strict=False)]


def nearest(value, name):
    """The code of the nearest magnitude, ties to even codes; beyond the last, the last."""
    code = bisect.bisect_left(middles(name), value)
    is_tie = code < len(middles(name)) and middles(name)[code] == value
    return code + 1 if is_tie and code % 2 else code


def code_of(number, name, toward_zero):
    """By comparison with every value there is, so that it shares no code with a conversion."""
    if number != number:
        return int(np.asarray(np.nan).astype(numpy_type(name)).view(np.uint8))
    largest = finite(name)[-1]
    magnitude = largest if abs(number) == np.inf else abs(Fraction(number))
    if toward_zero:
        code = bisect.bisect_right(finite(name), magnitude) - 1
    else:
        code = nearest(magnitude, name)
    negative = np.signbit(number) if isinstance(number, float) else number < 0
    return code | (128 if negative else 0)


@quiet
def to_float8(x, name, toward_zero=False):
    """Rounded once, saturated, NaN kept."""
    exact = [float(value) if is_float(x.dtype) else int(value) for value in x]
    codes = [code_of(number, name, toward_zero) for number in exact]
    return np.array(codes, np.uint8).view(numpy_type(name))


@quiet
def converted(x, name):
    target = numpy_type(name)
    if name in FLOAT8:
        return to_float8(x, name)
    if name == "int1":
        return x != 0
    if is_float(target):
        return x.astype(np.float64).astype(target)
    return np.array([to_integer(value, target) for value in x], target)


@quiet
def sources(name):
    """Every code of a float8; of other types what goes wrong, float8's ties among them."""
    if name in FLOAT8:
        return CODES.view(numpy_type(name))
    values = samples(name)
    if not is_float(values.dtype):
        return values
    ties = []
    for narrow in FLOAT8:
        table = [float(value) for value in finite(narrow)]
        ties += [float(value) for value in middles(narrow)]
        ties += [table[-1] + (table[-1] - table[-2]) * step for step in (0.25, 0.5, 0.75, 1.5)]
    beside = np.array(ties).astype(values.dtype)
    bits = beside.view(f"u{beside.dtype.itemsize}")
    near = np.concatenate([beside, (bits + 1).view(values.dtype), (bits - 1).view(values.dtype)])
    return np.concatenate([values, near, -near])


def conversion(kind, kernel, source, target, expected):
    x = sources(source)

    def inputs():
        return {"x_ptr": x.copy(), "out_ptr": output(target, x.size), "n": x.size, "BLOCK": BLOCK}

    return Case(
        name=f"{kind} {source} to {target}",
        kernel=kernel,
        grid=(-(-x.size // BLOCK),),
        inputs=inputs,
        expected=lambda a: {"out_ptr": expected(a["x_ptr"], target)},
        signed_zeros=True,
    )


def choose_case(name):
    def inputs():
        x = generator("float8", name).permutation(CODES).view(numpy_type(name))
        return {
            "x_ptr": x[:201].copy(),
            "y_ptr": x[::-1].copy(),
            "out_ptr": output(name, 201),
            "n": 201,
            "BLOCK": BLOCK,
        }

    def expected(a):
        i = np.arange(201)
        y = np.where(i % 3 == 0, a["y_ptr"][BLOCK - 1 - i].astype(np.float32), np.nan)
        chosen = np.where(i % 2 == 0, a["x_ptr"].astype(np.float32), y)
        return {"out_ptr": np.where(i % 5 == 0, chosen, 0.25).astype(numpy_type(name))}

    return Case(
        name=f"loads, masks and selections of {name}",
        kernel=choose_kernel,
        grid=(1,),
        inputs=inputs,
        expected=expected,
        signed_zeros=True,
    )


def turn_case(name, num_warps):
    rows, columns = 16, 32

    def inputs():
        return {
            "x_ptr": plain(name, rows, columns),
            "out_ptr": output(name, rows * columns + 2),
            "scale": numpy_type(name).type(-3.5),
            "R": rows,
            "C": columns,
        }

    def expected(a):
        flat = a["x_ptr"].T.reshape(-1).astype(np.float32)
        return {"out_ptr": np.append(flat, [-3.5, 1.0]).astype(numpy_type(name))}

    return Case(
        name=f"{name} turned, carried by a loop, and as an argument",
        kernel=turn_kernel,
        grid=(1,),
        inputs=inputs,
        expected=expected,
        num_warps=num_warps,
    )


def padded_case(name):
    block = 16

    def inputs():
        out = np.ones((block, block), numpy_type(name))
        return {"x_ptr": plain(name, 12, 13), "out_ptr": out, "M": 12, "N": 13, "B": block}

    def expected(a):
        result = np.full((block, block), np.nan, np.float32)
        result[:9, :8] = a["x_ptr"][3:, 5:]
        return {"out_ptr": result.astype(numpy_type(name))}

    return Case(
        name=f"a descriptor pads {name} with NaN",
        kernel=padded_kernel,
        grid=(1,),
        inputs=inputs,
        expected=expected,
    )


def sum_case(name):
    def inputs():
        x = generator("sum", name).integers(-8, 9, 128).astype(numpy_type(name))
        return {"x_ptr": x, "out_ptr": output("float32", 2), "N": 128}

    def expected(a):
        total = a["x_ptr"].astype(np.float64).sum()
        return {"out_ptr": np.array([total, 2 * total])}

    return Case(
        name=f"a sum of {name} in a wider type",
        kernel=sum_kernel,
        grid=(1,),
        inputs=inputs,
        expected=expected,
    )


def whole(name, *shape, seed):
    """Whole numbers so small that their sums are exact even where 13 bits of each are kept."""
    return generator("whole", name, shape, seed).integers(-4, 5, shape).astype(numpy_type(name))


def dot_case(a_name, b_name, shape, num_warps):
    m, n, k = shape

    def inputs():
        return {
            "a_ptr": whole(a_name, m, k, seed="a"),
            "b_ptr": whole(b_name, k, n, seed="b"),
            "out_ptr": np.ones((m, n), np.float32),
            "M": m,
            "N": n,
            "K": k,
        }

    return Case(
        name=f"dot {a_name} with {b_name} {m}x{n}x{k}",
        kernel=dot_kernel,
        grid=(1,),
        inputs=inputs,
        expected=lambda a: {"out_ptr": product(a["a_ptr"], a["b_ptr"])},
        num_warps=num_warps,
    )


def accumulate_case(name, result):
    m, n, k = 32, 64, 32

    def inputs():
        return {
            "a_ptr": plain(name, m, k, seed="a"),
            "b_ptr": plain(name, n, k, seed="b"),
            "c_ptr": plain(result, m, n, seed="c"),
            "M": m,
            "N": n,
            "K": k,
        }

    def expected(a):
        return {"c_ptr": product(a["a_ptr"], a["b_ptr"].T) + a["c_ptr"].astype(np.float64)}

    return Case(
        name=f"dot {name} into {result}",
        kernel=accumulate_kernel,
        grid=(1,),
        inputs=inputs,
        expected=expected,
        tolerance=rounded(result, size(k)),
    )


def matmul_case(names, shape, block, num_warps, values=whole, precise=False, kernel=None):
    m, n, k = shape
    by_columns = kernel is None

    def inputs():
        padded = -(-k // 16) * 16  # rows that a copy engine can fetch
        b = values(names[1], n, padded, seed="b")[:, :k]
        blocks = dict(zip(("BM", "BN", "BK"), block, strict=True))
        if by_columns:
            blocks |= {"stride_bn": padded, "IMPRECISE": 0 if precise else None}
        else:
            b = np.ascontiguousarray(b.T)
            blocks |= {"stride_bk": n}
        return {
            "a_ptr": values(names[0], m, padded, seed="a")[:, :k],
            "b_ptr": b,
            "c_ptr": np.ones((m, n), np.float32),
            **dict(zip("MNK", shape, strict=True)),
            "stride_am": padded,
            "stride_cm": n,
            **blocks,
        }

    def expected(a):
        b = a["b_ptr"].T if by_columns else a["b_ptr"]
        return {"c_ptr": product(a["a_ptr"], b)}

    coarse = Tolerance(
        2.0**-10,
        2.0**-10 * size(k),
        why="matrix units add 13 bits of each product, relative to the largest",
    )
    inexact = rounded("float32", size(k)) if precise else coarse
    kind = "whole numbers" if values is whole else "exact sums" if precise else "numbers"
    order = "columns" if by_columns else "rows"
    return Case(
        name=f"matmul by {order} of {kind} {' and '.join(names)} {shape} by {block}",
        kernel=kernel or columns_matmul_kernel,
        grid=(-(-n // block[1]), -(-m // block[0])),
        inputs=inputs,
        expected=expected,
        tolerance=EXACT if values is whole else inexact,
        num_warps=num_warps,
    )


def cases():
    e4m3, e5m2 = FLOAT8
    pairs = [(a, b) for a in (*ALL, *FLOAT8) for b in (*ALL, *FLOAT8)]
    pairs = [(a, b) for a, b in pairs if a != b and (a in FLOAT8 or b in FLOAT8)]
    bitcasts = [(e4m3, "uint8"), ("uint8", e4m3), ("int8", e5m2), (e5m2, e4m3), (e4m3, "int8")]
    truncations = [("float32", e4m3), ("float32", e5m2), ("float16", e5m2), ("float64", e4m3)]
    shapes = [(16, 16, 16), (1, 16, 8), (64, 32, 64), (128, 64, 32)]
    return [
        *(conversion("convert", convert_kernel, a, b, converted) for a, b in pairs),
        *(
            conversion("store converts", implicit_kernel, a, b, converted)
            for a, b in (("float32", e4m3), (e5m2, "float16"))
        ),
        *(
            conversion("bitcast", bitcast_kernel, a, b, lambda x, name: x.view(numpy_type(name)))
            for a, b in bitcasts
        ),
        *(
            conversion(
                "toward zero", toward_zero_kernel, a, b, lambda x, name: to_float8(x, name, True)
            )
            for a, b in truncations
        ),
        *(choose_case(name) for name in FLOAT8),
        *(turn_case(name, warps) for name, warps in zip(FLOAT8, (1, 4), strict=True)),
        *(padded_case(name) for name in FLOAT8),
        *(sum_case(name) for name in FLOAT8),
        *(dot_case(e4m3, e4m3, shape, (1, 4, 8)[i % 3]) for i, shape in enumerate(shapes)),
        dot_case(e5m2, e5m2, (32, 64, 32), 4),
        dot_case(e4m3, e5m2, (64, 64, 64), 4),
        dot_case(e5m2, e4m3, (32, 32, 16), 2),
        accumulate_case(e4m3, "float32"),
        accumulate_case(e5m2, "float16"),
        matmul_case((e4m3, e4m3), (128, 128, 128), (64, 64, 64), 4),
        matmul_case((e4m3, e4m3), (70, 90, 100), (64, 32, 32), 4),
        matmul_case((e4m3, e5m2), (130, 192, 256), (128, 128, 128), 8),
        matmul_case((e5m2, e5m2), (64, 96, 160), (64, 64, 64), 4, values=plain),
        matmul_case((e4m3, e4m3), (64, 64, 256), (64, 64, 128), 4, values=plain, precise=True),
        matmul_case(
            (e4m3, e4m3), (70, 90, 50), (32, 64, 16), 4, values=plain, kernel=pointer_matmul_kernel
        ),
        matmul_case((e4m3, e5m2), (64, 64, 96), (32, 32, 32), 1, kernel=pointer_matmul_kernel),
    ]
