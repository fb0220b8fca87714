"""Reads from a Metal device which elements of an 8x8 fragment each lane holds.

Apple does not specify it; the compiler relies on the layout that is public knowledge, as
docs/metal.md says. Hand-written Metal, since the compiled kernels take the layout for granted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import enceladus
from enceladus.cli.checks import MismatchError

__all__ = ["fragments"]

_SOURCE = """
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

kernel void fragment_layout(device const TYPE* matrix [[buffer(0)]],
                            device float* held [[buffer(1)]],
                            uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_matrix<TYPE, 8, 8> fragment;
  simdgroup_load(fragment, matrix, 8);
  held[2 * lane] = float(fragment.thread_elements()[0]);
  held[2 * lane + 1] = float(fragment.thread_elements()[1]);
}
"""


def _expected() -> Any:
    """The row-major index of the two elements of each of 32 lanes."""
    lane = np.arange(32)
    quad = lane // 4
    row = (quad & 4) + (lane // 2) % 4
    column = (quad & 2) * 2 + (lane % 2) * 2
    return np.stack([8 * row + column, 8 * row + column + 1], axis=1)


def fragments(device: str) -> str:
    """The layout of 8x8 fragments against the one that the compiler relies on."""
    for word, dtype in (("float", "float32"), ("half", "float16"), ("bfloat", "bfloat16")):
        source = _SOURCE.replace("TYPE", word)
        with enceladus.device(device):
            matrix = enceladus.arange(64, dtype=dtype, device=device)
            held = enceladus.zeros((32, 2), dtype="float32", device=device)
            enceladus.metal_kernel(source, "fragment_layout")[(1,), (32,)](matrix, held)
        got, wanted = held.numpy().astype(np.int64), _expected()
        if not np.array_equal(got, wanted):
            lane = int(np.flatnonzero((got != wanted).any(axis=1))[0])
            raise MismatchError(
                f"lane {lane} of a {word} fragment holds elements {got[lane].tolist()}, "
                f"not {wanted[lane].tolist()}: `tl.dot` gives wrong results on this device"
            )
    return "float, half and bfloat fragments lie as the compiler assumes"
