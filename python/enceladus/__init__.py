"""Tile kernels in Python, for Apple GPUs, NVIDIA GPUs and CPUs."""

import importlib
from types import ModuleType

from enceladus.arrays import (
    Tensor,
    arange,
    empty,
    empty_like,
    from_dlpack,
    from_numpy,
    full,
    ones,
    zeros,
    zeros_like,
)
from enceladus.autotune import Config, autotune, heuristics
from enceladus.compiled import CompiledKernel, MockTensor
from enceladus.cuda import CudaKernel, cuda_kernel
from enceladus.devices import Device, current_device, device, devices, set_device, synchronize
from enceladus.errors import (
    CompilationError,
    CudaError,
    DeviceAssertionError,
    EnceladusError,
    MetalError,
    OutOfBoundsError,
)
from enceladus.interop import element_dtype, element_strides, lazy_mlx, new_empty, new_zeros
from enceladus.jit import JITFunction, async_numpy, cdiv, jit, next_power_of_2
from enceladus.metal import MetalKernel, capture, metal_kernel
from enceladus.random import manual_seed, rand, randn

__version__ = "0.1.0"

__all__ = [
    "CompilationError",
    "CompiledKernel",
    "Config",
    "CudaError",
    "CudaKernel",
    "Device",
    "DeviceAssertionError",
    "EnceladusError",
    "JITFunction",
    "MetalError",
    "MetalKernel",
    "MockTensor",
    "OutOfBoundsError",
    "Tensor",
    "arange",
    "async_numpy",
    "autotune",
    "capture",
    "cdiv",
    "cuda_kernel",
    "current_device",
    "device",
    "devices",
    "element_dtype",
    "element_strides",
    "empty",
    "empty_like",
    "from_dlpack",
    "from_numpy",
    "full",
    "heuristics",
    "jit",
    "lazy_mlx",
    "manual_seed",
    "metal_kernel",
    "new_empty",
    "new_zeros",
    "next_power_of_2",
    "ones",
    "rand",
    "randn",
    "set_device",
    "synchronize",
    "zeros",
    "zeros_like",
]


def __getattr__(name: str) -> ModuleType:
    """Submodules that not every program needs, imported when they are first named."""
    if name in ("configs", "interpreter", "testing"):
        return importlib.import_module(f"enceladus.{name}")
    raise AttributeError(f"module 'enceladus' has no attribute {name!r}")
