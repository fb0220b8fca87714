"""What tensors do for memory of a GPU: copies where the host does not share it, and exchange."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from enceladus.interop.dtypes import numpy_dtype, storable

if TYPE_CHECKING:
    from enceladus.arrays import Tensor

__all__ = [
    "CPU",
    "CUDA",
    "METAL",
    "cuda_array_interface",
    "finish_producer",
    "host_array",
    "overwrite",
]

CPU, CUDA, METAL = 1, 2, 8  # DLPack's numbers of devices


def finish_producer(source: Any) -> None:
    """Waits for what PyTorch has queued for a tensor on mps; DLPack has no streams for Metal."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(source, torch.Tensor) and source.device.type == "mps":
        torch.mps.synchronize()


def host_array(source: Any) -> Any:
    """An array or a number as NumPy."""
    if hasattr(source, "_dtype_name"):  # one of ours: np.asarray would copy once more
        return source.numpy()
    if hasattr(source, "detach"):  # torch: NumPy is refused what has gradients or is on a GPU
        source = source.detach().cpu()
    return np.asarray(source)


def overwrite(tensor: Tensor, source: Any) -> Tensor:
    """Sets a tensor's elements to those of an array or to a number; returns the tensor."""
    tensor._check_writable()
    if tensor.is_contiguous() and _overwrite_there(tensor, source):
        return tensor
    # The strides of a view skip elements that must stay as they are.
    contiguous = tensor.is_contiguous()
    host = np.empty(tensor.shape, _dtype_of(tensor)) if contiguous else tensor.numpy()
    host[...] = storable(host_array(source), tensor._dtype_name)
    tensor._upload(host)
    return tensor


def _overwrite_there(tensor: Tensor, source: Any) -> bool:
    """Lets the device copy to or fill a C-contiguous tensor; False where it cannot."""
    if hasattr(source, "_dtype_name"):
        alike = (source.shape, source._dtype_name) == (tensor.shape, tensor._dtype_name)
        if alike and source.is_contiguous() and source.device == tensor.device:
            tensor._copy_from(source)
            return True
        return False
    if not isinstance(source, (bool, int, float, np.generic)):
        return False
    data = np.asarray(storable(source, tensor._dtype_name)).astype(_dtype_of(tensor)).tobytes()
    size = next(n for n in (1, 2, 4, 8) if data == data[:n] * (len(data) // n))
    if size == 8:
        return False
    tensor._fill_bytes(size, int.from_bytes(data[:size], "little"))
    return True


def _dtype_of(tensor: Tensor) -> np.dtype[Any]:
    return numpy_dtype(tensor._dtype_name)


def cuda_array_interface(tensor: Tensor) -> dict[str, Any]:
    """The dict of `__cuda_array_interface__`, version 3.

    Raises:
        AttributeError: the tensor has none.
    """
    if tensor._dlpack_device()[0] != CUDA:
        raise AttributeError(f"a tensor on {tensor.device} has no __cuda_array_interface__")
    if tensor._dtype_name == "bfloat16" or tensor._dtype_name.startswith("float8"):
        raise AttributeError(f"__cuda_array_interface__ has no {tensor._dtype_name}; use DLPack")
    return {
        "shape": tensor.shape,
        "typestr": _dtype_of(tensor).str,
        "data": (tensor.data_ptr(), not tensor.writable),
        "strides": tuple(stride * tensor.itemsize for stride in tensor.strides),
        "stream": 1,
        "version": 3,
    }
