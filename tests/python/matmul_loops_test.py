"""Whole matrix products through K loops: the loops that run inside out, and near misses."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

import enceladus
import enceladus.language as tl


@enceladus.jit
def descriptor_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    ACC: tl.constexpr,
):  # fmt: skip
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([pid_m * BM, k]), b.load([k, pid_n * BN]), acc, out_dtype=ACC)
    c.store([pid_m * BM, pid_n * BN], acc)


@enceladus.jit
def transposed_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    ACC: tl.constexpr,
):  # fmt: skip
    """A lies as [K, M] and B as [N, K]; the accumulator starts at 1."""
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    a = tl.make_tensor_descriptor(a_ptr, [K, M], [M, 1], [BK, BM])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    acc = tl.full((BM, BN), 1, dtype=ACC)
    for k in range(0, K, BK):
        x = a.load([k, pid_m * BM])
        y = b.load([pid_n * BN, k])
        acc = tl.dot(x.T, y.T, acc, out_dtype=ACC)
    c.store([pid_m * BM, pid_n * BN], acc)


@enceladus.jit
def pointer_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    ACC: tl.constexpr,
):  # fmt: skip
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    rows = pid_m * BM + tl.arange(0, BM)
    columns = pid_n * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * K + depth[None, :]
    b_ptrs = b_ptr + depth[:, None] * N + columns[None, :]
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(tl.cdiv(K, BK)):
        left = K - k * BK
        x = tl.load(a_ptrs, mask=(rows[:, None] < M) & (depth[None, :] < left), other=0)
        y = tl.load(b_ptrs, mask=(depth[:, None] < left) & (columns[None, :] < N), other=0)
        acc = tl.dot(x, y, acc, out_dtype=ACC)
        a_ptrs += BK
        b_ptrs += BK * N
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], acc, mask=mask)


@enceladus.jit
def wrapped_rows_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    ACC: tl.constexpr,
):  # fmt: skip
    """Rows modulo M, as in Triton's tutorial: no constant stride."""
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    rows = (pid_m * BM + tl.arange(0, BM)) % M
    columns = (pid_n * BN + tl.arange(0, BN)) % N
    depth = tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * K + depth[None, :]
    b_ptrs = b_ptr + depth[:, None] * N + columns[None, :]
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(tl.cdiv(K, BK)):
        x = tl.load(a_ptrs, mask=depth[None, :] < K - k * BK, other=0)
        y = tl.load(b_ptrs, mask=depth[:, None] < K - k * BK, other=0)
        acc = tl.dot(x, y, acc, out_dtype=ACC)
        a_ptrs += BK
        b_ptrs += BK * N
    out_rows = pid_m * BM + tl.arange(0, BM)
    out_columns = pid_n * BN + tl.arange(0, BN)
    mask = (out_rows[:, None] < M) & (out_columns[None, :] < N)
    tl.store(c_ptr + out_rows[:, None] * N + out_columns[None, :], acc, mask=mask)


Operands = dict[str, tuple[object, object, object]]
TYPES: Operands = {
    "float32": (np.float32, np.float32, tl.float32),
    "float64": (np.float64, np.float64, tl.float64),
    "float16": (np.float16, np.float32, tl.float32),
    "float16 in float16": (np.float16, np.float16, tl.float16),
    "bfloat16": (ml_dtypes.bfloat16, np.float32, tl.float32),
    "int8": (np.int8, np.int32, tl.int32),
    "uint8": (np.uint8, np.int32, tl.int32),
}
SHAPES = [(64, 64, 64), (100, 70, 90), (1, 1, 1), (33, 65, 7), (40, 20, 0)]


def operands(types: str, m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Small whole numbers, whose sums every accumulator but float16 holds exactly."""
    dtype, out, _ = TYPES[types]
    random = np.random.default_rng(5)
    low = 0 if types == "uint8" else -3
    a = random.integers(low, 4, (m, k)).astype(dtype)
    b = random.integers(low, 4, (k, n)).astype(dtype)
    return a, b, a.astype(np.float64) @ b.astype(np.float64)


def launch(
    kernel: object, arrays: tuple[np.ndarray, ...], types: str, shape: tuple[int, ...]
) -> np.ndarray:
    m, n, _ = shape
    c = np.full((m, n), 77, TYPES[types][1])
    grid = (enceladus.cdiv(n, 32), enceladus.cdiv(m, 32))
    kernel[grid](*arrays, c, *shape, BM=32, BN=32, BK=16, ACC=TYPES[types][2])  # type: ignore[index]
    return c.astype(np.float64)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("kernel", [descriptor_matmul, pointer_matmul, wrapped_rows_matmul])
def test_products_are_exact(kernel: object, types: str, shape: tuple[int, int, int]) -> None:
    a, b, expected = operands(types, *shape)
    np.testing.assert_array_equal(launch(kernel, (a, b), types, shape), expected)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("types", TYPES)
def test_transposed_operands_and_a_start_are_exact(types: str, shape: tuple[int, int, int]) -> None:
    a, b, expected = operands(types, *shape)
    arrays = (np.ascontiguousarray(a.T), np.ascontiguousarray(b.T))
    np.testing.assert_array_equal(launch(transposed_matmul, arrays, types, shape), expected + 1)


@pytest.mark.parametrize("kernel", [descriptor_matmul, pointer_matmul])
def test_a_written_operand_is_not_kept_between_launches(kernel: Callable[..., None]) -> None:
    a, b, _ = operands("float32", 64, 64, 64)
    first = launch(kernel, (a, b), "float32", (64, 64, 64))
    b += 1
    second = launch(kernel, (a, b), "float32", (64, 64, 64))
    np.testing.assert_array_equal(second - first, a.sum(1, keepdims=True).repeat(64, 1))


@pytest.mark.parametrize("kernel", [descriptor_matmul, pointer_matmul])
def test_a_product_into_its_own_operand_reads_before_it_writes(kernel: object) -> None:
    """One program: the whole product is computed before it is stored."""
    a, b, expected = operands("float32", 32, 32, 32)
    kernel[(1, 1)](a, b, b, 32, 32, 32, BM=32, BN=32, BK=16, ACC=tl.float32)  # type: ignore[index]
    np.testing.assert_array_equal(b, expected)


def test_programs_that_share_columns_follow_one_another() -> None:
    """The seed's grid runs along n first; the walk turns it so that the packed B is used again."""
    a, b, _ = operands("float32", 64, 64, 64)
    compiled = descriptor_matmul.warmup(
        a, b, np.empty((64, 64), np.float32), 64, 64, 64, BM=32, BN=32, BK=16, ACC=tl.float32,
        grid=(2, 2),
    )  # fmt: skip
    assert compiled.artifact.walk[0] == 1
