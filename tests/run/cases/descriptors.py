"""Tensor descriptors: tiles clipped to the bounds, padding, gather, scatter, atomic add."""

import numpy as np

import enceladus
import enceladus.language as tl

from .case import ALL, Case, numpy_type, plain

ROWS, COLUMNS = 21, 45


@enceladus.jit
def copy_kernel(x_ptr, out_ptr, M, N, stride, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [stride, 1], [BM, BN])
    out = tl.make_tensor_descriptor(out_ptr, [M, N], [stride, 1], [BM, BN])
    row, column = tl.program_id(1) * BM, tl.program_id(0) * BN
    out.store([row, column], x.load([row, column]))


@enceladus.jit
def line_kernel(x_ptr, out_ptr, n, start, PADDING: tl.constexpr, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [n], [1], [BLOCK], padding_option=PADDING)
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.load_tensor_descriptor(x, [start]))


@enceladus.jit
def cube_kernel(x_ptr, out_ptr, A, B, C, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [A, B, C], [B * C, C, 1], [2, 4, BLOCK])
    out = tl.make_tensor_descriptor(out_ptr, [A, B, C], [B * C, C, 1], [2, 4, BLOCK])
    tl.static_assert(out.dtype == x.dtype)
    for a in range(0, A, 2):
        for b in range(0, x.shape[1], 4):
            out.store([a, b, 0], x.load([a, b, 0]) + 1)


@enceladus.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, M, N, first, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [1, BN])
    rows = tl.load(index_ptr + tl.arange(0, 8))
    tile = x.gather(rows, first)
    columns = tl.arange(0, BN)
    tl.store(out_ptr + tl.arange(0, 8)[:, None] * BN + columns[None, :], tile)


@enceladus.jit
def scatter_kernel(x_ptr, index_ptr, out_ptr, M, N, first, BN: tl.constexpr):
    out = tl.make_tensor_descriptor(out_ptr, [M, N], [N, 1], [1, BN])
    rows = tl.load(index_ptr + tl.arange(0, 8))
    tile = tl.load(x_ptr + tl.arange(0, 8)[:, None] * BN + tl.arange(0, BN)[None, :])
    out.scatter(tile, rows, first)


@enceladus.jit
def atomic_kernel(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    out = tl.make_tensor_descriptor(out_ptr, [M, N], [N, 1], [BM, BN])
    tile = tl.load(x_ptr + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :])
    out.atomic_add([2, 4], tile)


def copy_case(name, shape, block):
    rows, columns = shape

    def inputs():
        x = plain(name, rows, columns + 5)
        out = np.ones_like(x)
        return {
            "x_ptr": x,
            "out_ptr": out,
            "M": rows,
            "N": columns,
            "stride": columns + 5,
            "BM": block[0],
            "BN": block[1],
        }

    def expected(a):
        result = a["out_ptr"].copy()
        result[:, :columns] = a["x_ptr"][:, :columns]
        return {"out_ptr": result}

    grid = (-(-columns // block[1]), -(-rows // block[0]))
    return Case(f"descriptor copy {name} {shape} by {block}", copy_kernel, grid, inputs, expected)


def line_case(name, start, padding):
    def inputs():
        return {
            "x_ptr": plain(name, 40),
            "out_ptr": np.ones(64, numpy_type(name)),
            "n": 40,
            "start": start,
            "PADDING": padding,
            "BLOCK": 64,
        }

    def expected(a):
        places = start + np.arange(64)
        inside = (places >= 0) & (places < 40)
        result = np.full(64, np.nan if padding == "nan" else 0).astype(numpy_type(name))
        result[inside] = a["x_ptr"][places[inside]]
        return {"out_ptr": result}

    name = f"{name}"
    return Case(
        f"descriptor line {name} from {start} {padding}", line_kernel, (1,), inputs, expected
    )


INDICES = np.array([3, 0, 20, 21, -1, 7, 11, 5], np.int32)


def picked_case(kind, name, first):
    kernel = gather_kernel if kind == "gather" else scatter_kernel
    block = 16

    def inputs():
        inner = (8, block)
        outer = (ROWS, COLUMNS)
        return {
            "x_ptr": plain(name, *(outer if kind == "gather" else inner)),
            "index_ptr": INDICES.copy(),
            "out_ptr": np.ones(inner if kind == "gather" else outer, numpy_type(name)),
            "M": ROWS,
            "N": COLUMNS,
            "first": first,
            "BN": block,
        }

    def expected(a):
        columns = first + np.arange(block)
        inside = (columns >= 0) & (columns < COLUMNS)
        result = np.zeros((8, block), numpy_type(name)) if kind == "gather" else a["out_ptr"].copy()
        for i, row in enumerate(INDICES):
            if not 0 <= row < ROWS:
                continue
            if kind == "gather":
                result[i, inside] = a["x_ptr"][row, columns[inside]]
            else:
                result[row, columns[inside]] = a["x_ptr"][i, inside]
        return {"out_ptr": result}

    return Case(f"descriptor {kind} {name} from {first}", kernel, (1,), inputs, expected)


def atomic_case(name):
    def inputs():
        return {
            "x_ptr": plain(name, 4, 16),
            "out_ptr": plain(name, 5, 13, seed="out"),
            "M": 5,
            "N": 13,
            "BM": 4,
            "BN": 16,
        }

    def expected(a):
        result = a["out_ptr"].copy()
        result[2:, 4:] += a["x_ptr"][:3, :9]
        return {"out_ptr": result}

    return Case(f"descriptor atomic_add {name}", atomic_kernel, (1,), inputs, expected)


def cube_case(name):
    def inputs():
        x = plain(name, 3, 6, 10)
        return {"x_ptr": x, "out_ptr": np.zeros_like(x), "A": 3, "B": 6, "C": 10, "BLOCK": 16}

    one = numpy_type(name).type(1)
    return Case(
        f"descriptor cube {name}",
        cube_kernel,
        (1,),
        inputs,
        lambda a: {"out_ptr": a["x_ptr"] + one},
    )


def cases():
    return [
        *(copy_case(name, (ROWS, COLUMNS), (8, 16)) for name in ALL),
        copy_case("float32", (64, 64), (32, 64)),
        copy_case("float32", (1, 1), (4, 4)),
        *(
            line_case(name, start, padding)
            for name in ("float32", "float16")
            for start in (-5, 0, 13, 100)
            for padding in ("zero", "nan")
        ),
        line_case("int32", -5, "zero"),
        *(
            picked_case(kind, "float32", first)
            for kind in ("gather", "scatter")
            for first in (0, 40, -3)
        ),
        *(atomic_case(name) for name in ("float32", "int32")),
        *(cube_case(name) for name in ("float32", "int8")),
    ]
