"""Metal alone: `metal_kernel`, for hand-written Metal text, and `capture`, for traces in Xcode.

The parameters are read from the text before anything reaches a device, by a scanner that knows
declarations, comments and attributes; everything else is left to Metal's compiler.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from enceladus import _core
from enceladus._environment import metal_capture_enabled
from enceladus._hand_written import HandWrittenKernel, Parameter, split_arguments
from enceladus.devices import current_device, resolve, synchronize
from enceladus.errors import MetalError

__all__ = ["MetalKernel", "capture", "metal_kernel"]

_MOST_BUFFERS = 31
# Types of scalars and of what pointers point to; a vector is an array of its elements' type.
_TYPES = {
    "bool": "int1",
    "char": "int8",
    "int8_t": "int8",
    "uchar": "uint8",
    "uint8_t": "uint8",
    "short": "int16",
    "int16_t": "int16",
    "ushort": "uint16",
    "uint16_t": "uint16",
    "int": "int32",
    "int32_t": "int32",
    "atomic_int": "int32",
    "uint": "uint32",
    "uint32_t": "uint32",
    "unsigned": "uint32",
    "atomic_uint": "uint32",
    "long": "int64",
    "int64_t": "int64",
    "ulong": "uint64",
    "uint64_t": "uint64",
    "size_t": "uint64",
    "half": "float16",
    "bfloat": "bfloat16",
    "float": "float32",
    "atomic_float": "float32",
}
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ATTRIBUTE = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)


class MetalKernel(HandWrittenKernel):
    """A hand-written kernel; see `metal_kernel`.

    Attributes:
        name: of the kernel function.
        source: the text.
        parameters: what a launch passes, in order.
    """

    _target = "Metal"

    def __init__(self, source: str, name: str, language_version: str, math_mode: str) -> None:
        super().__init__(source, name, read_parameters(source, name))
        major, _, minor = language_version.partition(".")
        version = 10 * int(major) + int(minor)
        self._kernel = _core.TextKernel(name, source, self._described(), version, math_mode)


def metal_kernel(
    source: str, name: str, *, language_version: str = "3.1", math_mode: str = "relaxed"
) -> MetalKernel:
    """A kernel from Metal Shading Language text.

    `k[grid, threads](*args)` launches it on the arrays' Metal device, or on the current one:
    `grid` programs (threadgroups) of `threads` threads, each an int or a tuple of up to three.
    Arrays go to the kernel's `device` and `constant` pointers, numbers to its `constant T&`
    parameters, converted to the type declared there. Built-in values such as
    `[[thread_position_in_grid]]` take no argument.

    Args:
        source: the text, its `#include <metal_stdlib>` included.
        name: of the kernel function in it.
        language_version: of the Metal Shading Language.
        math_mode: "relaxed", "fast" or "precise".

    Raises:
        ValueError: there is no such kernel in the text, or a parameter that a launch cannot pass.
            Everything else that is wrong with the text is a `MetalError` of the first launch.

    Example:
        >>> scale = enceladus.metal_kernel('''
        ... #include <metal_stdlib>
        ... kernel void scale(device float* x, constant float& factor,
        ...                   uint i [[thread_position_in_grid]]) { x[i] *= factor; }
        ... ''', "scale")
        >>> scale[4, 256](x, 2.0)
    """
    return MetalKernel(source, name, language_version, math_mode)


@contextmanager
def capture(path: str | os.PathLike[str], device: Any = None) -> Iterator[str]:
    """Records what a Metal device does inside a `with` block into a trace that Xcode opens.

    Metal allows it where MTL_CAPTURE_ENABLED=1 was set when the process started. A kernel that
    prints cannot be launched inside. On `metal-sim` the trace holds no more than a remark.

    Args:
        path: of the trace, a name that ends in `.gputrace` and does not exist yet.
        device: the Metal device, the current one by default.

    Raises:
        MetalError: the variable is not set, a capture runs already, or Metal refuses.
        ValueError: the path's ending is another one, or the device is not Metal's.

    Example:
        >>> with enceladus.capture("softmax.gputrace"):
        ...     softmax[(rows,)](x, y, columns, BLOCK=1024)
    """
    name = (current_device() if device is None else resolve(device)).name
    target = os.path.abspath(os.fspath(path))
    if not target.endswith(".gputrace"):
        raise ValueError(f"a trace is called something.gputrace, not {os.fspath(path)!r}")
    if name.startswith("metal") and not metal_capture_enabled():
        raise MetalError(
            "a capture needs MTL_CAPTURE_ENABLED=1 in the environment when the process starts"
        )
    if os.path.exists(target):
        raise MetalError(f"the trace {target} exists already, and Metal replaces none")
    _core.start_capture(name, target)
    try:
        yield target
    finally:
        try:
            synchronize(name)
        finally:
            _core.stop_capture(name)


def read_parameters(source: str, name: str) -> tuple[Parameter, ...]:
    """The parameters of a kernel function that a launch passes.

    Raises:
        ValueError: see `metal_kernel`.
    """
    text = _COMMENT.sub(" ", source)
    start = re.search(rf"(?:\bkernel\b|\[\[\s*kernel\s*\]\])\s+void\s+{re.escape(name)}\s*\(", text)
    if start is None:
        raise ValueError(f"the Metal text has no kernel function `{name}`")
    declarations = split_arguments(text, start.end())
    parameters: list[Parameter] = []
    slots = {slot for slot in map(declared_slot, declarations) if slot is not None}
    for declaration in declarations:
        parameter = read_parameter(declaration, name, slots)
        if parameter is not None:
            parameters.append(parameter)
            slots.add(parameter.slot)
    if len(slots) != len(parameters):
        raise ValueError(f"two parameters of `{name}` have the same buffer index")
    if any(slot >= _MOST_BUFFERS for slot in slots):
        raise ValueError(f"`{name}` has a buffer index above {_MOST_BUFFERS - 1}, Metal's last")
    return tuple(parameters)


def declared_slot(declaration: str) -> int | None:
    """The buffer index that an attribute gives."""
    for attribute in _ATTRIBUTE.findall(declaration):
        match = re.fullmatch(r"\s*buffer\s*\(\s*(\d+)\s*\)\s*", attribute)
        if match is not None:
            return int(match[1])
    return None


def read_parameter(declaration: str, kernel: str, taken: set[int]) -> Parameter | None:
    """One declaration; None for a built-in value."""
    slot = declared_slot(declaration)
    plain = _ATTRIBUTE.sub(" ", declaration)
    words = re.findall(r"\w+|[*&]|<[^<>]*>", plain)
    is_pointer, is_reference = "*" in words, "&" in words
    space = next((word for word in words if word in ("device", "constant", "threadgroup")), None)
    name = next((word for word in reversed(words) if re.match(r"[A-Za-z_]", word)), declaration)
    if space is None and slot is None and plain != declaration:
        return None
    if space not in ("device", "constant") or not (is_pointer or is_reference):
        raise ValueError(
            f"parameter `{name}` of `{kernel}` ({' '.join(declaration.split())}) is neither an "
            "array nor a number that a launch can pass"
        )
    qualifiers = {space, "const", "volatile", "restrict", "__restrict", "coherent", name, "*", "&"}
    types = [word.removeprefix("packed_") for word in words if word not in qualifiers]
    element = re.sub(r"(?<=[a-z])[234]$", "", types[0]) if len(types) == 1 else ""
    dtype = _TYPES.get(element, "")
    if is_reference and (not dtype or element != types[0]):
        raise ValueError(
            f"parameter `{name}` of `{kernel}` is a {' '.join(types) or 'type'}, which no number "
            "gives; declare a pointer and pass an array"
        )
    if slot is None:
        slot = next(index for index in range(_MOST_BUFFERS + 1) if index not in taken)
    is_written = space == "device" and "const" not in words
    return Parameter(name, dtype, not is_reference or space == "device", is_written, slot)
