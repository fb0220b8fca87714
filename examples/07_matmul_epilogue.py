"""A matmul whose epilogue adds a bias and applies GELU before the only store."""

import argparse
import math

import numpy as np

import enceladus
import enceladus.language as tl
from enceladus.configs import matmul_configs
from enceladus.testing import assert_close

SQRT_HALF = tl.constexpr(math.sqrt(0.5))


@enceladus.jit
def gelu(x):
    return 0.5 * x * (1.0 + tl.erf(x * SQRT_HALF))


@enceladus.autotune(configs=matmul_configs("float32"), key=["M", "N", "K"])
@enceladus.jit
def matmul_bias_gelu_kernel(
    a_ptr,
    b_ptr,
    bias_ptr,
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
    columns = pid_n * BN + tl.arange(0, BN)
    bias = tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
    c.store([pid_m * BM, pid_n * BN], gelu(acc + bias[None, :]).to(c.dtype))


def matmul_bias_gelu(a, b, bias):
    """`gelu(a @ b + bias)` for matrices whose last stride is 1."""
    (m, k), n = a.shape, b.shape[1]
    c = enceladus.new_empty(a, (m, n))
    stride_am, stride_bk = enceladus.element_strides(a)[0], enceladus.element_strides(b)[0]
    grid = lambda meta: (enceladus.cdiv(n, meta["BN"]), enceladus.cdiv(m, meta["BM"]))
    matmul_bias_gelu_kernel[grid](a, b, bias, c, m, n, k, stride_am, stride_bk, n)
    return c


def reference(a, b, bias):
    """The same with NumPy."""
    z = a.astype(np.float64) @ b + bias
    erf = np.vectorize(math.erf, otypes=[np.float64])
    return (0.5 * z * (1 + erf(z * math.sqrt(0.5)))).astype(np.float32)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--m", type=int, default=300)
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--k", type=int, default=200)
    options = parser.parse_args(arguments)
    generator = np.random.default_rng(0)
    a = generator.standard_normal((options.m, options.k), np.float32)
    b = generator.standard_normal((options.k, options.n), np.float32)
    bias = generator.standard_normal(options.n, np.float32)
    # Sums of K products: the error grows with the size of the sum, about sqrt(K).
    assert_close(matmul_bias_gelu(a, b, bias), reference(a, b, bias), atol=1e-5 * options.k**0.5)
    print(f"matmul, bias and GELU: {options.m}x{options.n}x{options.k} agrees with NumPy")


if __name__ == "__main__":
    main()
