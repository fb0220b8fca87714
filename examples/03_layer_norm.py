"""LayerNorm over the last axis: mean and variance from one tile that holds the row."""

import argparse

import numpy as np

import enceladus
import enceladus.language as tl
from enceladus.testing import assert_close


@enceladus.jit
def layer_norm_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, columns, x_stride, out_stride, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * x_stride + offsets, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns
    weight = tl.load(weight_ptr + offsets, mask=mask)
    bias = tl.load(bias_ptr + offsets, mask=mask)
    result = centred * tl.rsqrt(variance + eps) * weight + bias
    tl.store(out_ptr + row * out_stride + offsets, result, mask=mask)


def layer_norm(x, weight, bias, eps=1e-5):
    """LayerNorm over the last axis of a matrix whose last stride is 1."""
    rows, columns = x.shape
    out = enceladus.new_empty(x)
    x_stride, out_stride = enceladus.element_strides(x)[0], enceladus.element_strides(out)[0]
    block = enceladus.next_power_of_2(columns)
    layer_norm_kernel[(rows,)](
        x, weight, bias, out, columns, x_stride, out_stride, eps, BLOCK=block
    )
    return out


def reference(x, weight, bias, eps=1e-5):
    """The same with NumPy."""
    x = x.astype(np.float64)
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return (centred / np.sqrt(variance + eps) * weight + bias).astype(np.float32)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--columns", type=int, default=781)
    options = parser.parse_args(arguments)
    generator = np.random.default_rng(0)
    x = generator.standard_normal((options.rows, options.columns), np.float32)
    weight, bias = generator.standard_normal((2, options.columns), np.float32)
    assert_close(layer_norm(x, weight, bias), reference(x, weight, bias))
    print(f"layer norm: {options.rows} rows of {options.columns} agree with NumPy")


if __name__ == "__main__":
    main()
