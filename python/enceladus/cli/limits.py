"""Limits of a Metal device that compiled kernels rely on, tried out by hand-written Metal."""

from __future__ import annotations

import numpy as np

import enceladus
from enceladus.cli.checks import MismatchError

__all__ = ["limits"]

_THREADS = 1024  # of a program, at most
_WORDS = 8192  # of threadgroup memory: 32 KiB
_SOURCE = f"""
#include <metal_stdlib>
using namespace metal;

kernel void at_the_limits(device uint* out [[buffer(30)]],
                          uint width [[threads_per_simdgroup]],
                          uint index [[thread_position_in_threadgroup]]) {{
  threadgroup uint shared[{_WORDS}];
  for (uint i = index; i < {_WORDS}; i += {_THREADS}) shared[i] = 3 * i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint sum = 0;
  for (uint i = index; i < {_WORDS}; i += {_THREADS}) sum += shared[{_WORDS} - 1 - i];
  out[index] = sum;
  if (index == 0) out[{_THREADS}] = width;
}}
"""


def limits(device: str) -> str:
    """One program of 1,024 threads, all threadgroup memory and the last buffer index."""
    with enceladus.device(device):
        out = enceladus.zeros(_THREADS + 1, dtype="uint32", device=device)
        enceladus.metal_kernel(_SOURCE, "at_the_limits")[(1,), (_THREADS,)](out)
    got = out.numpy()
    if got[_THREADS] != 32:
        raise MismatchError(f"SIMD groups have {got[_THREADS]} threads, not 32")
    words = 3 * (_WORDS - 1 - np.arange(_WORDS)).reshape(-1, _THREADS)
    if not np.array_equal(got[:_THREADS], words.sum(axis=0)):
        raise MismatchError("threadgroup memory of 32,768 bytes does not keep what it is given")
    return "1,024 threads, 32,768 bytes of threadgroup memory, buffer 30, SIMD groups of 32"
