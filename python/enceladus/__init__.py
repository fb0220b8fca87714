"""Tile kernels in Python, for Apple GPUs, NVIDIA GPUs and CPUs."""

from enceladus.autotune import Config, autotune, heuristics
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
    "Config",
    "CudaError",
    "DeviceAssertionError",
    "EnceladusError",
    "JITFunction",
    "MetalError",
    "OutOfBoundsError",
    "autotune",
    "cdiv",
    "heuristics",
    "jit",
    "next_power_of_2",
]
