"""The kernels that `enceladus doctor` launches. Each shows one part of the language at work."""

from __future__ import annotations

from typing import Any

import enceladus
import enceladus.language as tl

__all__ = [
    "argmax_rows",
    "arithmetic",
    "attention",
    "compiled",
    "convert",
    "copy",
    "count",
    "cumsum_rows",
    "extrema",
    "functions",
    "interpreted",
    "matmul",
    "multiply_add",
    "softmax_rows",
    "square",
    "zip_blocks",
]


def copy(x_ptr: Any, out_ptr: Any, n: Any, BLOCK: tl.constexpr) -> None:
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


def square(x_ptr: Any, out_ptr: Any, n: Any, BLOCK: tl.constexpr) -> None:
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * x, mask=mask)


def multiply_add(x_ptr: Any, y_ptr: Any, z_ptr: Any, out_ptr: Any, BLOCK: tl.constexpr) -> None:
    offsets = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, x * y + tl.load(z_ptr + offsets))


def convert(x_ptr: Any, out_ptr: Any, n: Any, BLOCK: tl.constexpr) -> None:
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x.to(out_ptr.dtype.element_ty), mask=mask)


def extrema(x_ptr: Any, y_ptr: Any, out_ptr: Any, n: Any, BLOCK: tl.constexpr) -> None:
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.maximum(x, y), mask=mask)
    tl.store(out_ptr + n + offsets, tl.minimum(x, y), mask=mask)
    every = tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)
    tl.store(out_ptr + 2 * n + offsets, every, mask=mask)
    tl.store(out_ptr + 3 * n + offsets, tl.where(x < y, 1.0, 0.0), mask=mask)
    tl.store(out_ptr + 4 * n + offsets, tl.where(x != y, 1.0, 0.0), mask=mask)


def arithmetic(x_ptr: Any, y_ptr: Any, out_ptr: Any, n: Any, BLOCK: tl.constexpr) -> None:
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask, other=1)
    tl.store(out_ptr + offsets, x + y, mask=mask)
    tl.store(out_ptr + n + offsets, x * y, mask=mask)
    tl.store(out_ptr + 2 * n + offsets, x // y, mask=mask)
    tl.store(out_ptr + 3 * n + offsets, x % y, mask=mask)
    tl.store(out_ptr + 4 * n + offsets, (x << (y & 31)) ^ (x >> (y & 31)), mask=mask)


def functions(
    x_ptr: Any, out_ptr: Any, n: Any, FUNCTION: tl.constexpr, BLOCK: tl.constexpr
) -> None:
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=1.0)
    if FUNCTION == "exp":
        y = tl.exp(x)
    elif FUNCTION == "exp2":
        y = tl.exp2(x)
    elif FUNCTION == "log":
        y = tl.log(x)
    elif FUNCTION == "sin":
        y = tl.sin(x)
    elif FUNCTION == "cos":
        y = tl.cos(x)
    elif FUNCTION == "sqrt":
        y = tl.sqrt(x)
    elif FUNCTION == "sqrt_rn":
        y = tl.sqrt_rn(x)
    else:
        y = 1.0 / x
    tl.store(out_ptr + offsets, y, mask=mask)


def softmax_rows(x_ptr: Any, out_ptr: Any, columns: Any, BLOCK: tl.constexpr) -> None:
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    row = tl.program_id(0) * columns
    x = tl.load(x_ptr + row + offsets, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row + offsets, e / tl.sum(e, axis=0), mask=mask)


def argmax_rows(x_ptr: Any, out_ptr: Any, columns: Any, BLOCK: tl.constexpr) -> None:
    offsets = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=-float("inf"))
    tl.store(out_ptr + row, tl.argmax(x, axis=0))


def cumsum_rows(x_ptr: Any, out_ptr: Any, columns: Any, BLOCK: tl.constexpr) -> None:
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    row = tl.program_id(0) * columns
    x = tl.load(x_ptr + row + offsets, mask=mask, other=0)
    tl.store(out_ptr + row + offsets, tl.cumsum(x, axis=0), mask=mask)


def count(values_ptr: Any, counts_ptr: Any, n: Any, BLOCK: tl.constexpr) -> None:
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(values_ptr + offsets, mask=mask, other=0)
    tl.atomic_add(counts_ptr + values, 1, mask=mask)


def zip_blocks(x_ptr: Any, out_ptr: Any, ROWS: tl.constexpr, COLUMNS: tl.constexpr) -> None:
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + rows[:, None] * COLUMNS + columns[None, :])
    turned = tl.trans(x) + 1
    tl.store(out_ptr + columns[:, None] * ROWS + rows[None, :], turned)


def matmul(
    a_ptr: Any,
    b_ptr: Any,
    c_ptr: Any,
    M: Any,
    N: Any,
    K: Any,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
) -> None:
    n, m = tl.program_id(0) * BN, tl.program_id(1) * BM
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a.load([m, k]), b.load([k, n]), total)
    c.store([m, n], total.to(c.dtype))


def attention(
    q_ptr: Any,
    k_ptr: Any,
    v_ptr: Any,
    out_ptr: Any,
    length: Any,
    scale: Any,
    BM: tl.constexpr,
    BN: tl.constexpr,
    WIDTH: tl.constexpr,
) -> None:
    first = tl.program_id(0) * BM
    q = tl.make_tensor_descriptor(q_ptr, [length, WIDTH], [WIDTH, 1], [BM, WIDTH])
    k = tl.make_tensor_descriptor(k_ptr, [length, WIDTH], [WIDTH, 1], [BN, WIDTH])
    v = tl.make_tensor_descriptor(v_ptr, [length, WIDTH], [WIDTH, 1], [BN, WIDTH])
    out = tl.make_tensor_descriptor(out_ptr, [length, WIDTH], [WIDTH, 1], [BM, WIDTH])
    queries = q.load([first, 0])
    highest = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), dtype=tl.float32)
    total = tl.zeros((BM, WIDTH), dtype=tl.float32)
    for start in range(0, length, BN):
        scores = tl.dot(queries, tl.trans(k.load([start, 0]))) * scale
        keys = start + tl.arange(0, BN)
        scores = tl.where(keys[None, :] < length, scores, -float("inf"))
        newest = tl.maximum(highest, tl.max(scores, axis=1))
        p = tl.exp(scores - newest[:, None])
        kept = tl.exp(highest - newest)
        weight = weight * kept + tl.sum(p, axis=1)
        total = tl.dot(p.to(v.dtype), v.load([start, 0]), total * kept[:, None])
        highest = newest
    out.store([first, 0], (total / weight[:, None]).to(out.dtype))


def compiled(function: Any, **options: Any) -> enceladus.JITFunction:
    """A kernel of this file, compiled whatever ENCELADUS_INTERPRET says."""
    kernel: enceladus.JITFunction = enceladus.jit(interpret=False, **options)(function)
    return kernel


def interpreted(function: Any) -> enceladus.JITFunction:
    """The same kernel in the interpreter."""
    kernel: enceladus.JITFunction = enceladus.jit(interpret=True)(function)
    return kernel
