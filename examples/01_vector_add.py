"""Vector add: every program adds one block of elements; a mask covers the ragged end."""

import argparse
import math

import numpy as np

import enceladus
import enceladus.language as tl
from enceladus.testing import assert_close


@enceladus.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def add(x, y):
    """The sum of two contiguous arrays of one shape."""
    out = enceladus.new_empty(x)
    n = math.prod(x.shape)
    grid = lambda meta: (enceladus.cdiv(n, meta["BLOCK"]),)
    add_kernel[grid](x, y, out, n, BLOCK=4096)
    return out


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_003)
    options = parser.parse_args(arguments)
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal((2, options.size), dtype=np.float32)
    assert_close(add(x, y), x + y, atol=0, rtol=0)
    print(f"vector add: {options.size} sums equal NumPy's")


if __name__ == "__main__":
    main()
