"""RMSNorm of rows of any length: a loop over blocks of the row, twice."""

import argparse

import numpy as np

import enceladus
import enceladus.language as tl
from enceladus.testing import assert_close


@enceladus.jit
def rms_norm_kernel(
    x_ptr, weight_ptr, out_ptr, columns, x_stride, out_stride, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    x_row = x_ptr + row * x_stride
    out_row = out_ptr + row * out_stride
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + offsets, mask=offsets < columns, other=0.0).to(tl.float32)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares, axis=0) / columns + eps)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        x = tl.load(x_row + offsets, mask=mask).to(tl.float32)
        weight = tl.load(weight_ptr + offsets, mask=mask)
        tl.store(out_row + offsets, x * scale * weight, mask=mask)


def rms_norm(x, weight, eps=1e-6):
    """`x / rms(x) * weight` over the last axis of a matrix whose last stride is 1."""
    rows, columns = x.shape
    out = enceladus.new_empty(x)
    x_stride, out_stride = enceladus.element_strides(x)[0], enceladus.element_strides(out)[0]
    block = min(2048, enceladus.next_power_of_2(columns))
    rms_norm_kernel[(rows,)](x, weight, out, columns, x_stride, out_stride, eps, BLOCK=block)
    return out


def reference(x, weight, eps=1e-6):
    """The same with NumPy."""
    x = x.astype(np.float64)
    mean_square = (x * x).mean(axis=-1, keepdims=True)
    return (x / np.sqrt(mean_square + eps) * weight).astype(np.float32)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--columns", type=int, default=5000)
    options = parser.parse_args(arguments)
    generator = np.random.default_rng(0)
    x = generator.standard_normal((options.rows, options.columns), np.float32)
    weight = generator.standard_normal(options.columns, np.float32)
    assert_close(rms_norm(x, weight), reference(x, weight))
    print(f"RMS norm: {options.rows} rows of {options.columns} agree with NumPy")


if __name__ == "__main__":
    main()
