"""Random tensors: Philox 4x32-10, the same numbers on every target and machine."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np

from enceladus import _core
from enceladus.arrays import Tensor, empty

__all__ = ["manual_seed", "rand", "randn"]

# A tensor of fewer elements is made on the host and copied sooner than a kernel is compiled.
_DEVICE_SIZE = 1 << 16
# Bits of a uniform number by dtype.
_BITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
_BLOCKS = 256  # of the generator, for one program of the kernel


class _Generator:
    """The generator of the process: a seed and how many blocks of it are used up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.seed(int.from_bytes(os.urandom(8), "little"))

    def seed(self, seed: int) -> None:
        with self._lock:
            self._seed = seed
            self._offset = 0

    def fill(self, tensor: Tensor, normal: bool) -> Tensor:
        per_block = 2 if tensor.itemsize == 8 else 4
        with self._lock:
            seed, offset = self._seed, self._offset
            self._offset += -(-tensor.size // per_block)
        if tensor.size >= _DEVICE_SIZE and not tensor._is_shared:
            _fill_on_device(tensor, normal, seed, offset)
        else:
            _core.queue_random_fill(tensor, normal, seed, offset)
        return tensor


def _fill_on_device(tensor: Tensor, normal: bool, seed: int, offset: int) -> None:
    """What `_core.queue_random_fill` does, by a kernel."""
    from enceladus._random_kernel import fill_kernel

    bits = _BITS[tensor._dtype_name]
    per_program = _BLOCKS * (2 if bits == 53 else 4)
    words = [
        np.uint32(value >> shift & 0xFFFFFFFF) for value in (seed, offset) for shift in (0, 32)
    ]
    fill_kernel[(-(-tensor.size // per_program),)](
        tensor, np.int64(tensor.size), *words, NORMAL=normal, BITS=bits, BLOCKS=_BLOCKS
    )


_generator = _Generator()


def manual_seed(seed: int) -> None:
    """Starts the random numbers of `rand` and `randn` afresh; the same seed gives the same numbers.

    Args:
        seed: any integer; taken modulo 2^64.

    Example:
        >>> enceladus.manual_seed(7)
        >>> x = enceladus.randn((2, 3))
    """
    _generator.seed(int(seed) % 2**64)


def rand(*shape: Any, dtype: Any = "float32", device: Any = None) -> Tensor:
    """A tensor of uniform numbers in [0, 1).

    Args:
        shape: ints or one tuple.
        dtype: float16, bfloat16, float32 or float64.
        device: a name such as `"cpu"`; the current device where it is None.

    Raises:
        TypeError: the dtype is no float type.
    """
    return _generator.fill(_empty_float(shape, dtype, device), normal=False)


def randn(*shape: Any, dtype: Any = "float32", device: Any = None) -> Tensor:
    """A tensor of normally distributed numbers with mean 0 and variance 1; see `rand`."""
    return _generator.fill(_empty_float(shape, dtype, device), normal=True)


def _empty_float(shape: tuple[Any, ...], dtype: Any, device: Any) -> Tensor:
    extents = shape[0] if len(shape) == 1 else shape
    tensor = empty(extents, dtype, device)
    if not tensor.dtype.is_floating() or tensor.dtype.is_fp8():
        raise TypeError(
            f"random numbers are floats of 16 bits and more, not {tensor.dtype}; use `.to(...)`"
        )
    return tensor
