"""Loads and stores: masks, gathers, strides, views, scalars, and offsets past 2**31."""

import numpy as np

import enceladus
import enceladus.language as tl

from .case import ALL, Case, extreme, generator, numpy_type, output, plain

N, BLOCK = 300, 128
GRID = (3,)


@enceladus.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


@enceladus.jit
def masked_kernel(x_ptr, mask_ptr, out_ptr, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    chosen = tl.load(mask_ptr + offsets)
    if OTHER is None:
        x = tl.load(x_ptr + offsets, mask=chosen)
    else:
        x = tl.load(x_ptr + offsets, mask=chosen, other=OTHER)
    tl.store(out_ptr + offsets, x)


@enceladus.jit
def strided_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets * stride, mask=mask), mask=mask)


@enceladus.jit
def matrix_kernel(x_ptr, out_ptr, M, N, stride_x, stride_out, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * stride_x + columns[None, :], mask=mask)
    tl.store(out_ptr + columns[None, :] * stride_out + rows[:, None], x, mask=mask)


@enceladus.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    index = tl.load(index_ptr + offsets, mask=mask)
    x = (x_ptr + index).load(mask=mask)
    (out_ptr + index).store(x * 2, mask=mask)


@enceladus.jit
def scalar_kernel(x_ptr, out_ptr, count, flag, factor):
    pid = tl.program_id(0)
    value = tl.load(x_ptr + pid)
    if flag:
        value = value * factor
    tl.store(out_ptr + count - 1 - pid, value)


@enceladus.jit
def broadcast_store_kernel(x_ptr, out_ptr, BM: tl.constexpr, BN: tl.constexpr):
    rows, columns = tl.arange(0, BM), tl.arange(0, BN)
    pointers = out_ptr + rows[:, None] * BN + columns[None, :]
    tl.store(pointers, tl.load(x_ptr + rows)[:, None], mask=columns[None, :] > 2)
    tl.store(out_ptr + columns, 7)


@enceladus.jit
def in_place_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        mask = start + offsets < n
        x = tl.load(x_ptr + start + offsets, mask=mask)
        tl.store(x_ptr + start + offsets, x + 1, mask=mask)
        again = tl.load(x_ptr + start + offsets, mask=mask)
        tl.store(x_ptr + start + offsets, again * 2, mask=mask)


@enceladus.jit
def shift_kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(x_ptr + offsets + 1, x)


@enceladus.jit
def far_kernel(x_ptr, out_ptr, blocks, BLOCK: tl.constexpr):
    start = blocks * BLOCK
    offsets = start + tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + offsets).to(tl.int32) + (start < 0))


@enceladus.jit
def grid_kernel(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    width, height = tl.num_programs(0), tl.num_programs(1)
    place = (z * height + y) * width + x
    tl.store(out_ptr + place, x + 10 * y + 100 * z + 1000 * tl.num_programs(2))


def copy_case(name, num_warps):
    def inputs():
        return {"x_ptr": extreme(name, N), "out_ptr": output(name, N), "n": N, "BLOCK": BLOCK}

    return Case(
        name=f"copy {name}",
        kernel=copy_kernel,
        grid=GRID,
        inputs=inputs,
        expected=lambda a: {"out_ptr": a["x_ptr"]},
        num_warps=num_warps,
        signed_zeros=True,
    )


def masked_case(name, other):
    def inputs():
        chosen = plain("int1", BLOCK, seed="mask")
        x = plain(name, BLOCK)
        return {
            "x_ptr": x[: np.flatnonzero(chosen)[-1] + 1],
            "mask_ptr": chosen,
            "out_ptr": output(name, BLOCK),
            "OTHER": other,
            "BLOCK": BLOCK,
        }

    def expected(a):
        result = np.full(BLOCK, 0 if other is None else other).astype(numpy_type(name))
        chosen = np.flatnonzero(a["mask_ptr"])
        result[chosen] = a["x_ptr"][chosen]
        return {"out_ptr": result}

    return Case(f"masked load {name} other {other}", masked_kernel, (1,), inputs, expected)


def strided_case(name, make, stride, expected):
    def inputs():
        x = make()
        return {
            "x_ptr": x,
            "out_ptr": output("float32", 100),
            "n": 100,
            "stride": stride,
            "BLOCK": 64,
        }

    return Case(name, strided_kernel, (2,), inputs, lambda a: {"out_ptr": expected(a["x_ptr"])})


def matrix_case(name, shape):
    rows, columns = shape

    def inputs():
        x = plain(name, rows, columns + 3)
        return {
            "x_ptr": x[:, :columns],
            "out_ptr": output(name, columns, rows),
            "M": rows,
            "N": columns,
            "stride_x": columns + 3,
            "stride_out": rows,
            "BM": 16,
            "BN": 32,
        }

    return Case(
        name=f"transposing copy {name} {shape}",
        kernel=matrix_kernel,
        grid=(-(-columns // 32), -(-rows // 16)),
        inputs=inputs,
        expected=lambda a: {"out_ptr": a["x_ptr"].T},
    )


def gather_case(name, index):
    def inputs():
        order = generator("gather").permutation(N).astype(numpy_type(index))
        out = output(name, N)
        x = plain(name, N)
        return {"x_ptr": x, "index_ptr": order, "out_ptr": out, "n": N, "BLOCK": BLOCK}

    return Case(
        name=f"gather and scatter {name} by {index}",
        kernel=gather_kernel,
        grid=GRID,
        inputs=inputs,
        expected=lambda a: {"out_ptr": a["x_ptr"] * numpy_type(name).type(2)},
    )


def scalar_case(flag):
    def inputs():
        out = output("float32", 5)
        return {
            "x_ptr": plain("float32", 5),
            "out_ptr": out,
            "count": 5,
            "flag": flag,
            "factor": 1.5,
        }

    def expected(a):
        return {"out_ptr": (a["x_ptr"] * np.float32(1.5 if flag else 1))[::-1]}

    return Case(f"scalar load and store, flag {flag}", scalar_kernel, (5,), inputs, expected)


def broadcast_store_expected(a):
    result = a["out_ptr"].reshape(8, 16).copy()
    result[:, 3:] = a["x_ptr"][:, None]
    result[0] = 7
    return {"out_ptr": result.reshape(a["out_ptr"].shape)}


def far_inputs():
    # Zero pages that nothing touches cost no memory.
    x = np.zeros(2**31 + 4096, np.int8)
    x[2**31 :] = np.arange(4096) % 100
    return {"x_ptr": x, "out_ptr": output("int32", 1024), "blocks": 2**21, "BLOCK": 1024}


OTHER_CASES = [
    Case(
        "store broadcasts a column and a literal",
        broadcast_store_kernel,
        (1,),
        lambda: {
            "x_ptr": plain("float32", 8),
            "out_ptr": np.ones((8, 16), np.float32),
            "BM": 8,
            "BN": 16,
        },
        broadcast_store_expected,
    ),
    Case(
        "a program sees its own stores",
        in_place_kernel,
        (1,),
        lambda: {"x_ptr": plain("float32", N), "n": N, "BLOCK": 64},
        lambda a: {"x_ptr": (a["x_ptr"] + 1) * 2},
    ),
    Case(
        "an overlapping store comes after its load",
        shift_kernel,
        (1,),
        lambda: {"x_ptr": plain("int32", 129), "BLOCK": 128},
        lambda a: {"x_ptr": np.concatenate([a["x_ptr"][:1], a["x_ptr"][:-1]])},
    ),
    Case(
        "an int32 offset past 2**31 reaches its element",
        far_kernel,
        (1,),
        far_inputs,
        lambda a: {"out_ptr": np.arange(1024) % 100 + 1},
    ),
    Case(
        "a grid of three axes",
        grid_kernel,
        (3, 4, 2),
        lambda: {"out_ptr": output("int32", 24)},
        lambda a: {
            "out_ptr": np.array(
                [x + 10 * y + 100 * z + 2000 for z in range(2) for y in range(4) for x in range(3)]
            )
        },
    ),
    Case(
        "an empty grid runs nothing",
        grid_kernel,
        (3, 0, 2),
        lambda: {"out_ptr": output("int32", 24)},
        lambda a: {"out_ptr": a["out_ptr"]},
    ),
]


def cases():
    warps = (1, 4, 8)
    base = plain("float32", 400)
    return [
        *(copy_case(name, warps[i % 3]) for i, name in enumerate(ALL)),
        *(masked_case(name, None) for name in ALL),
        *(
            masked_case(name, other)
            for name in ("float32", "float16", "int8", "int64")
            for other in (-3, 5)
        ),
        masked_case("float32", float("-inf")),
        strided_case("a stride of 3", lambda: base.copy(), 3, lambda x: x[:300:3]),
        strided_case("a view with a stride", lambda: base.copy()[::2], 2, lambda x: x[:100]),
        strided_case("an unaligned view", lambda: base.copy()[1:101], 1, lambda x: x),
        strided_case("a stride of 0", lambda: base.copy()[5:6], 0, lambda x: np.repeat(x, 100)),
        *(
            matrix_case(name, shape)
            for name in ("float32", "int8")
            for shape in ((16, 32), (37, 70))
        ),
        *(
            gather_case(name, index)
            for name in ("float32", "float16")
            for index in ("int32", "int64")
        ),
        gather_case("int32", "uint16"),
        *(scalar_case(flag) for flag in (True, False)),
        *OTHER_CASES,
    ]
