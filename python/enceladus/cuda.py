"""`cuda_kernel`: launching a kernel that is written in CUDA C++ itself.

The parameters are read from the text before anything reaches a device, as for `metal_kernel`;
everything else is left to NVRTC.
"""

from __future__ import annotations

import operator
import re

from enceladus import _core, _early_compiler
from enceladus._hand_written import HandWrittenKernel, Parameter, split_arguments

__all__ = ["CudaKernel", "cuda_kernel"]

# Types of scalars and of what pointers point to; pointers may be to others, which take any array.
_TYPES = {
    "bool": "int1",
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "long": "int64",
    "long long": "int64",
    "unsigned long": "uint64",
    "unsigned long long": "uint64",
    "size_t": "uint64",
    "int8_t": "int8",
    "uint8_t": "uint8",
    "int16_t": "int16",
    "uint16_t": "uint16",
    "int32_t": "int32",
    "uint32_t": "uint32",
    "int64_t": "int64",
    "uint64_t": "uint64",
    "__half": "float16",
    "half": "float16",
    "__nv_bfloat16": "bfloat16",
    "__nv_fp8_e4m3": "float8_e4m3fn",
    "__nv_fp8_e5m2": "float8_e5m2",
    "float": "float32",
    "double": "float64",
}
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_QUALIFIERS = re.compile(r"\b(?:const|volatile|restrict|__restrict(?:__)?|__grid_constant__)\b")


class CudaKernel(HandWrittenKernel):
    """A hand-written kernel; see `cuda_kernel`.

    Attributes:
        name: of the kernel function.
        source: the text.
        parameters: what a launch passes, in order.
    """

    _target = "CUDA"

    def __init__(self, source: str, name: str, shared_bytes: int) -> None:
        if not 0 <= operator.index(shared_bytes) < 2**31:
            raise ValueError(f"shared_bytes={shared_bytes!r} for `{name}`: from 0 to 2147483647")
        super().__init__(source, name, read_parameters(source, name))
        _early_compiler.note_hand_written()
        self._kernel = _core.TextKernel.cuda(name, source, self._described(), shared_bytes)


def cuda_kernel(source: str, name: str, *, shared_bytes: int = 0) -> CudaKernel:
    """A kernel from CUDA C++ text, compiled by NVRTC.

    `k[grid, threads](*args)` launches it on the arrays' CUDA device, or on the current one: `grid`
    programs (thread blocks) of `threads` threads, each an int or a tuple of up to three. Arrays go
    to pointers, numbers to the other parameters, converted to the type declared there.

    Args:
        source: the text; the kernel is declared `extern "C" __global__ void`.
        name: of the kernel function in it.
        shared_bytes: dynamic shared memory of a program.

    Raises:
        ValueError: there is no such kernel in the text, or a parameter that a launch cannot pass.
            Everything else that is wrong with the text is a `CudaError` of the first launch.

    Example:
        >>> scale = enceladus.cuda_kernel('''
        ... extern "C" __global__ void scale(float* x, float factor) {
        ...   x[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
        ... }
        ... ''', "scale")
        >>> scale[4, 256](x, 2.0)
    """
    return CudaKernel(source, name, shared_bytes)


def read_parameters(source: str, name: str) -> tuple[Parameter, ...]:
    """The parameters of a kernel function.

    Raises:
        ValueError: see `cuda_kernel`.
    """
    text = _COMMENT.sub(" ", source)
    bounds = r"(?:__launch_bounds__\s*\([^)]*\)\s*)?"
    start = re.search(rf"__global__\s+{bounds}void\s+{bounds}{re.escape(name)}\s*\(", text)
    if start is None:
        raise ValueError(f"the CUDA text has no `__global__ void` function `{name}`")
    if 'extern "C"' not in text[: start.start()]:
        raise ValueError(f'declare `{name}` extern "C", so that it can be found by its name')
    declarations = split_arguments(text, start.end())
    return tuple(read_parameter(d, name, slot) for slot, d in enumerate(declarations))


def read_parameter(declaration: str, kernel: str, slot: int) -> Parameter:
    """One declaration."""
    plain = " ".join(_QUALIFIERS.sub(" ", declaration).replace("*", " * ").split())
    described, _, name = plain.rpartition(" ")
    if described.endswith("*") and described.count("*") == 1:
        element = described.removesuffix("*").strip()
        is_written = "const" not in declaration.split("*")[0].split()
        return Parameter(name, _TYPES.get(element, ""), True, is_written, slot)
    dtype = _TYPES.get(described)
    if dtype is None:
        raise ValueError(
            f"parameter `{name}` of `{kernel}` ({' '.join(declaration.split())}) is neither an "
            "array nor a number that a launch can pass"
        )
    return Parameter(name, dtype, False, False, slot)
