"""Bias and GELU in one pass: a chain of operations costs one read and one write."""

import argparse
import math

import numpy as np

import enceladus
import enceladus.language as tl
from enceladus.testing import assert_close

SQRT_HALF = tl.constexpr(math.sqrt(0.5))


@enceladus.jit
def gelu(x):
    return 0.5 * x * (1.0 + tl.erf(x * SQRT_HALF))


@enceladus.jit
def bias_gelu_kernel(x_ptr, bias_ptr, out_ptr, n, columns, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    bias = tl.load(bias_ptr + offsets % columns, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, gelu(x + bias), mask=mask)


def bias_gelu(x, bias):
    """`gelu(x + bias)` of a contiguous matrix and one bias a column."""
    out = enceladus.new_empty(x)
    n = math.prod(x.shape)
    grid = lambda meta: (enceladus.cdiv(n, meta["BLOCK"]),)
    bias_gelu_kernel[grid](x, bias, out, n, x.shape[-1], BLOCK=4096)
    return out


def reference(x, bias):
    """The same with NumPy."""
    z = x.astype(np.float64) + bias
    erf = np.vectorize(math.erf, otypes=[np.float64])
    return (0.5 * z * (1 + erf(z * math.sqrt(0.5)))).astype(np.float32)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--columns", type=int, default=781)
    options = parser.parse_args(arguments)
    generator = np.random.default_rng(0)
    x = generator.standard_normal((options.rows, options.columns), np.float32)
    bias = generator.standard_normal(options.columns, np.float32)
    assert_close(bias_gelu(x, bias), reference(x, bias))
    print(f"bias and GELU: {options.rows} rows of {options.columns} agree with NumPy")


if __name__ == "__main__":
    main()
