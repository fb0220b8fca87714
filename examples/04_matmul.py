"""Matrix multiplication, written with tensor descriptors and with pointers, and autotuned.

Descriptors are the shorter way and the faster one: what lies outside their shape reads as zero and
is never written, so there is no mask, and `tl.dot` may read memory without a copy in between.
"""

import argparse

import numpy as np

import enceladus
import enceladus.language as tl
from enceladus.configs import matmul_configs
from enceladus.testing import assert_close


@enceladus.autotune(configs=matmul_configs("float32"), key=["M", "N", "K"])
@enceladus.jit
def descriptor_kernel(
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
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([pid_m * BM, k]), b.load([k, pid_n * BN]), acc)
    c.store([pid_m * BM, pid_n * BN], acc.to(c.dtype))


@enceladus.autotune(configs=matmul_configs("float32"), key=["M", "N", "K"])
@enceladus.jit
def pointer_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * stride_am + inner[None, :] * stride_ak
    b_ptrs = b_ptr + inner[:, None] * stride_bk + columns[None, :] * stride_bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptrs, mask=(rows[:, None] < M) & (inner[None, :] + k < K), other=0.0)
        b = tl.load(b_ptrs, mask=(inner[:, None] + k < K) & (columns[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
    c_ptrs = c_ptr + rows[:, None] * stride_cm + columns[None, :]
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=mask)


def matmul(a, b, form="descriptor"):
    """`a @ b` for matrices; the descriptor form needs a last stride of 1 in both.

    Args:
        a: `(M, K)`.
        b: `(K, N)`.
        form: `"descriptor"` or `"pointer"`.
    """
    (m, k), n = a.shape, b.shape[1]
    c = enceladus.new_empty(a, (m, n))
    (am, ak), (bk, bn) = enceladus.element_strides(a), enceladus.element_strides(b)
    grid = lambda meta: (enceladus.cdiv(n, meta["BN"]), enceladus.cdiv(m, meta["BM"]))
    if form == "descriptor":
        descriptor_kernel[grid](a, b, c, m, n, k, am, bk, n)
    else:
        pointer_kernel[grid](a, b, c, m, n, k, am, ak, bk, bn, n)
    return c


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--m", type=int, default=500)
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--k", type=int, default=200)
    options = parser.parse_args(arguments)
    generator = np.random.default_rng(0)
    a = generator.standard_normal((options.m, options.k), np.float32)
    b = generator.standard_normal((options.k, options.n), np.float32)
    for form in ("descriptor", "pointer"):
        # Sums of K products: the error grows with the size of the sum, about sqrt(K).
        assert_close(matmul(a, b, form), a @ b, atol=1e-5 * options.k**0.5)
        print(f"matmul with {form}s: {options.m}x{options.n}x{options.k} agrees with NumPy")


if __name__ == "__main__":
    main()
