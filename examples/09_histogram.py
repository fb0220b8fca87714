"""A histogram: programs count in one array together, with atomic adds."""

import argparse
import math

import numpy as np

import enceladus
import enceladus.language as tl
from enceladus.testing import assert_close


@enceladus.jit
def histogram_kernel(values_ptr, counts_ptr, n, bins, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(values_ptr + offsets, mask=offsets < n, other=-1)
    mask = (values >= 0) & (values < bins)
    tl.atomic_add(counts_ptr + values, 1, mask=mask)


def histogram(values, bins):
    """How often each of `0 ... bins - 1` occurs in a contiguous array of int32, as int32.

    Values outside are not counted.
    """
    counts = enceladus.new_zeros(values, (bins,), dtype="int32")
    n = math.prod(values.shape)
    grid = lambda meta: (enceladus.cdiv(n, meta["BLOCK"]),)
    histogram_kernel[grid](values, counts, n, bins, BLOCK=1024)
    return counts


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_003)
    parser.add_argument("--bins", type=int, default=37)
    options = parser.parse_args(arguments)
    values = np.random.default_rng(0).integers(0, options.bins, options.size, np.int32)
    expected = np.bincount(values, minlength=options.bins).astype(np.int32)
    assert_close(histogram(values, options.bins), expected)
    print(f"histogram: {options.size} values in {options.bins} bins counted as NumPy does")


if __name__ == "__main__":
    main()
