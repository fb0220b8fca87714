"""From what a launch was given to what the kernel's function sees."""

import sys
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from enceladus.interop.mlx import evaluated
from enceladus.interop.neutral import is_mlx
from enceladus.interpreter.memory import Memory
from enceladus.interpreter.numpy_types import Array, dtype_of
from enceladus.interpreter.promotion import is_number, literal_type, to_value
from enceladus.interpreter.values import Value
from enceladus.language.core import pointer_type, unwrap


def kernel_arguments(arguments: Mapping[str, object], constexprs: set[str]) -> dict[str, object]:
    """Each argument as the kernel sees it.

    Args:
        arguments: by parameter name.
        constexprs: the names whose values are used as they are.
    """
    return {
        name: unwrap(value) if name in constexprs else _argument(name, value)
        for name, value in arguments.items()
    }


def _argument(name: str, value: Any) -> object:
    value = unwrap(value)
    if value is None or isinstance(value, Value):
        return value
    if is_number(value):
        return to_value(value, literal_type(value))
    if isinstance(value, np.generic):
        return Value(np.asarray(value), dtype_of(value.dtype))
    return array_pointer(name, host_view(name, value))


def host_view(name: str, value: Any) -> Array:
    """A NumPy array over the memory of an array argument, never a copy of one that can be written.

    Raises:
        TypeError: the argument is no array, or its memory is not the host's.
    """
    if isinstance(value, np.ndarray):
        return value
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _torch_view(torch, value)
    if is_mlx(value):
        host: Array = evaluated(value)[0]
        return host
    if hasattr(value, "numpy"):
        view = value.numpy()
        if isinstance(view, np.ndarray):
            return view
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    if hasattr(value, "__cuda_array_interface__"):
        raise TypeError(
            f"argument `{name}` lies in a GPU's memory, and the interpreter reads arrays of the "
            "host: pass a NumPy copy of it"
        )
    raise TypeError(
        f"argument `{name}` of type `{type(value).__name__}` is no array, number or bool"
    )


def _torch_view(torch: Any, value: Any) -> Array:
    plain = value.detach()
    if plain.device.type != "cpu":
        raise TypeError(f"the interpreter reads tensors of the CPU, not of {plain.device}")
    name = str(plain.dtype).removeprefix("torch.")
    # NumPy has none of these of its own, so that torch refuses to share them.
    bits = {"bfloat16": torch.int16, "float8_e4m3fn": torch.int8, "float8_e5m2": torch.int8}
    if name not in bits:
        shared: Array = plain.numpy()
        return shared
    view: Array = plain.view(bits[name]).numpy().view(getattr(ml_dtypes, name))
    return view


def array_pointer(name: str, array: Array) -> Value:
    """A pointer to an array's first element, bounded by the array's own extent."""
    element = dtype_of(array.dtype)
    size = array.dtype.itemsize
    if any(stride % size for stride in array.strides):
        raise TypeError(f"argument `{name}` has strides that are no multiple of its element size")
    steps = [stride // size for stride in array.strides]
    reach = [step * (extent - 1) for step, extent in zip(steps, array.shape, strict=True)]
    before = -sum(step for step in reach if step < 0)
    count = before + sum(step for step in reach if step > 0) + 1 if array.size else 0
    lowest = array[tuple(slice(-1, None) if step < 0 else slice(0, 1) for step in steps)]
    # Through their bits, as NumPy does not find every dtype of ml_dtypes by its code.
    bits = np.lib.stride_tricks.as_strided(lowest.view(f"u{size}"), (count,), (size,))
    elements = bits.view(array.dtype)
    memory = Memory(name, elements, element)
    return Value(np.asarray(before, np.int64), pointer_type(element), None, memory)
