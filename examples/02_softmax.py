"""Row softmax: a program holds a whole row in one tile, so memory is read and written once."""

import argparse

import numpy as np

import enceladus
import enceladus.language as tl
from enceladus.testing import assert_close


@enceladus.jit
def softmax_kernel(x_ptr, out_ptr, columns, x_stride, out_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * x_stride + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    result = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * out_stride + offsets, result, mask=mask)


def softmax(x):
    """Softmax over the last axis of a matrix whose last stride is 1."""
    rows, columns = x.shape
    out = enceladus.new_empty(x)
    x_stride, out_stride = enceladus.element_strides(x)[0], enceladus.element_strides(out)[0]
    block = enceladus.next_power_of_2(columns)
    softmax_kernel[(rows,)](x, out, columns, x_stride, out_stride, BLOCK=block)
    return out


def reference(x):
    """The same with NumPy."""
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--columns", type=int, default=781)
    options = parser.parse_args(arguments)
    x = np.random.default_rng(0).standard_normal((options.rows, options.columns), np.float32)
    assert_close(softmax(x), reference(x), atol=1e-6)
    print(f"softmax: {options.rows} rows of {options.columns} agree with NumPy")


if __name__ == "__main__":
    main()
