"""Tile kernels in Python, for Apple GPUs, NVIDIA GPUs and CPUs."""

from enceladus.errors import (
    CompilationError,
    CudaError,
    DeviceAssertionError,
    EnceladusError,
    MetalError,
    OutOfBoundsError,
)
from enceladus.jit import JITFunction, cdiv, jit, next_power_of_2

__all__ = [
    "CompilationError",
    "CudaError",
    "DeviceAssertionError",
    "EnceladusError",
    "JITFunction",
    "MetalError",
    "OutOfBoundsError",
    "cdiv",
    "jit",
    "next_power_of_2",
]
