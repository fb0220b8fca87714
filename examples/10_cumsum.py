"""Cumulative sums of rows of any length: a scan of each block, and a carry between blocks."""

import argparse

import numpy as np

import enceladus
import enceladus.language as tl
from enceladus.testing import assert_close


@enceladus.jit
def cumsum_kernel(x_ptr, out_ptr, columns, x_stride, out_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = 0.0
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        x = tl.load(x_ptr + row * x_stride + offsets, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * out_stride + offsets, tl.cumsum(x, axis=0) + carry, mask=mask)
        carry += tl.sum(x, axis=0)


def cumsum(x):
    """Cumulative sums along the last axis of a matrix whose last stride is 1."""
    rows, columns = x.shape
    out = enceladus.new_empty(x)
    x_stride, out_stride = enceladus.element_strides(x)[0], enceladus.element_strides(out)[0]
    block = min(1024, enceladus.next_power_of_2(columns))
    cumsum_kernel[(rows,)](x, out, columns, x_stride, out_stride, BLOCK=block)
    return out


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--columns", type=int, default=5001)
    options = parser.parse_args(arguments)
    x = np.random.default_rng(0).standard_normal((options.rows, options.columns), np.float32)
    expected = np.cumsum(x, axis=1, dtype=np.float64).astype(np.float32)
    # Relative to the largest partial sum: terms cancel in the small ones.
    assert_close(cumsum(x), expected, atol=1e-5 * float(np.abs(expected).max()))
    print(f"cumsum: {options.rows} rows of {options.columns} agree with NumPy")


if __name__ == "__main__":
    main()
