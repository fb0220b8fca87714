"""`tl.dot`: every type, ragged loops, accumulators, transposed and computed operands."""

import numpy as np

import enceladus
import enceladus.language as tl

from .case import FLOATS, HALVES, Case, numpy_type, plain, rounded

M, N, K = 32, 64, 16


@enceladus.jit
def dot_kernel(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    result = tl.dot(a, b)
    tl.static_assert(result.dtype == out_ptr.dtype.element_ty)
    tl.store(out_ptr + m[:, None] * N + n[None, :], result)


@enceladus.jit
def accumulate_kernel(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    places = c_ptr + m[:, None] * N + n[None, :]
    tl.store(places, tl.dot(a, b, tl.load(places)))


@enceladus.jit
def transposed_kernel(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + k[:, None] * M + m[None, :])
    b = tl.load(b_ptr + n[:, None] * K + k[None, :])
    result = tl.dot(tl.trans(a) * 2, b.T)
    tl.store(out_ptr + m[:, None] * N + n[None, :], result)


@enceladus.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_bk,
    stride_cm,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [stride_am, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [stride_bk, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [stride_cm, 1], [BM, BN])
    acc = tl.zeros(
        (BM, BN), dtype=tl.float64 if a_ptr.dtype.element_ty == tl.float64 else tl.float32
    )
    for k in range(0, K, BK):
        acc = tl.dot(a.load([pid_m * BM, k]), b.load([k, pid_n * BN]), acc)
    c.store([pid_m * BM, pid_n * BN], acc.to(c.dtype))


@enceladus.jit
def pointer_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_bk,
    stride_cm,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * stride_am + inner[None, :]
    b_ptrs = b_ptr + inner[:, None] * stride_bk + columns[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.int32 if a_ptr.dtype.element_ty.is_int() else tl.float32)
    for k in range(0, K, BK):
        inside = inner + k < K
        a = tl.load(a_ptrs, mask=(rows[:, None] < M) & inside[None, :], other=0)
        b = tl.load(b_ptrs, mask=inside[:, None] & (columns[None, :] < N), other=0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK
        b_ptrs += BK * stride_bk
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * stride_cm + columns[None, :], acc, mask=mask)


def result_dtype(name):
    if name == "float64":
        return name
    return "float32" if name in FLOATS else "int32"


def product(a, b):
    """The exact product: float64, or integers that wrap as int32."""
    if a.dtype.kind in "iu":
        return (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32)
    return a.astype(np.float64) @ b.astype(np.float64)


# Entries are of size 2, so a sum of k products is of size about 4 * sqrt(k).
def size(k):
    return 4.0 * k**0.5


def dot_case(name, shape, num_warps):
    m, n, k = shape
    result = result_dtype(name)

    def inputs():
        return {
            "a_ptr": plain(name, m, k, seed="a"),
            "b_ptr": plain(name, k, n, seed="b"),
            "out_ptr": np.ones((m, n), numpy_type(result)),
            "M": m,
            "N": n,
            "K": k,
        }

    return Case(
        name=f"dot {name} {m}x{n}x{k}",
        kernel=dot_kernel,
        grid=(1,),
        inputs=inputs,
        expected=lambda a: {"out_ptr": product(a["a_ptr"], a["b_ptr"])},
        tolerance=rounded(result, size(k)),
        num_warps=num_warps,
    )


def accumulate_case(name, result):
    def inputs():
        return {
            "a_ptr": plain(name, M, K, seed="a"),
            "b_ptr": plain(name, K, N, seed="b"),
            "c_ptr": plain(result, M, N, seed="c"),
            "M": M,
            "N": N,
            "K": K,
        }

    def expected(a):
        kind = np.float64 if result in FLOATS else np.int32
        return {"c_ptr": product(a["a_ptr"], a["b_ptr"]) + a["c_ptr"].astype(kind)}

    return Case(
        name=f"dot {name} into {result}",
        kernel=accumulate_kernel,
        grid=(1,),
        inputs=inputs,
        expected=expected,
        tolerance=rounded(result, size(K)),
    )


def transposed_case(name):
    def inputs():
        return {
            "a_ptr": plain(name, K, M, seed="a"),
            "b_ptr": plain(name, N, K, seed="b"),
            "out_ptr": np.ones((M, N), numpy_type(result_dtype(name))),
            "M": M,
            "N": N,
            "K": K,
        }

    return Case(
        name=f"dot of a computed and a transposed operand {name}",
        kernel=transposed_kernel,
        grid=(1,),
        inputs=inputs,
        expected=lambda a: {"out_ptr": product(a["a_ptr"].T, a["b_ptr"].T) * 2},
        tolerance=rounded(result_dtype(name), 2 * size(K)),
    )


def matmul_case(kernel, kind, name, result, shape, block, num_warps):
    m, n, k = shape

    def inputs():
        a = plain(name, m, k + 3, seed="a")[:, :k]
        c = np.ones((m, n), numpy_type(result))
        return {
            "a_ptr": a,
            "b_ptr": plain(name, k, n, seed="b"),
            "c_ptr": c,
            "M": m,
            "N": n,
            "K": k,
            "stride_am": k + 3,
            "stride_bk": n,
            "stride_cm": n,
            "BM": block[0],
            "BN": block[1],
            "BK": block[2],
        }

    return Case(
        name=f"matmul by {kind} {name} to {result} {shape} by {block}",
        kernel=kernel,
        grid=(-(-n // block[1]), -(-m // block[0])),
        inputs=inputs,
        expected=lambda a: {"c_ptr": product(a["a_ptr"], a["b_ptr"])},
        tolerance=rounded(result, size(k)),
        num_warps=num_warps,
    )


def cases():
    warps = (1, 4, 8)
    names = (*FLOATS, "int8", "uint8", "int16", "int32")
    shapes = [(16, 16, 16), (1, 16, 8), (16, 1, 32), (64, 32, 64), (128, 128, 32), (2, 4, 256)]
    dots = [(name, (M, N, K)) for name in names]
    dots += [(name, shape) for name in ("float32", "bfloat16", "int8") for shape in shapes]
    blocks = [
        ((64, 64, 64), (32, 32, 32)),
        ((70, 90, 50), (32, 64, 16)),
        ((33, 17, 100), (16, 32, 32)),
    ]
    descriptors = [(name, name, *row) for name in FLOATS for row in blocks]
    descriptors += [
        ("float16", "float32", *blocks[1]),
        ("float32", "float32", (5, 7, 3), (16, 16, 16)),
    ]
    pointers = [
        (name, result_dtype(name), *blocks[1])
        for name in ("float32", "float16", "bfloat16", "int8", "uint8")
    ]
    return [
        # 512 sums a thread are refused on GPUs, as 128x128 in one warp would have.
        *(
            dot_case(name, shape, 8 if shape[:2] == (128, 128) else warps[i % 3])
            for i, (name, shape) in enumerate(dots)
        ),
        *(accumulate_case(name, result_dtype(name)) for name in names),
        *(accumulate_case(name, name) for name in HALVES),
        *(transposed_case(name) for name in ("float32", "float16", "int8")),
        *(
            matmul_case(matmul_kernel, "descriptors", *row, warps[i % 3])
            for i, row in enumerate(descriptors)
        ),
        *(
            matmul_case(pointer_matmul_kernel, "pointers", *row, warps[i % 3])
            for i, row in enumerate(pointers)
        ),
    ]
