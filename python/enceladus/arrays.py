"""`enceladus.Tensor` and the functions that make one.

The C++ base holds memory, shape and strides; what is computed on the host here goes through NumPy,
after waiting for pending launches.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from enceladus import _core
from enceladus._device_memory import (
    CPU,
    CUDA,
    METAL,
    cuda_array_interface,
    finish_producer,
    host_array,
    overwrite,
)
from enceladus.devices import Device, resolve
from enceladus.interop.dtypes import dtype_name, numpy_dtype, storable

__all__ = [
    "Tensor",
    "arange",
    "empty",
    "empty_like",
    "from_dlpack",
    "from_numpy",
    "full",
    "ones",
    "zeros",
    "zeros_like",
]


@functools.cache
def language_dtype(name: str) -> Any:
    """The `tl` dtype of that name."""
    from enceladus.language import core

    return getattr(core, name)


class Tensor(_core.TensorBase):
    """An array in the memory of a device, made by `enceladus.empty` and its relatives.

    Launches on tensors return at once; whatever reads one on the host waits for them first.
    `strides` count elements. Slicing, `reshape`, `view` and `T` share memory with the original.

    Example:
        >>> x = enceladus.arange(6, dtype="float32").reshape(2, 3)
        >>> x.shape, x.strides, str(x.device), x[1, ::2].tolist()
        ((2, 3), (3, 1), 'cpu', [3.0, 5.0])
    """

    __slots__ = ()
    __hash__ = object.__hash__
    __array_priority__ = 1000

    @property
    def dtype(self) -> Any:
        """The element type, a `tl` dtype."""
        return language_dtype(self._dtype_name)

    @property
    def device(self) -> Device:
        """Where the memory is; prints as `cpu`."""
        return resolve(self._device_name)

    def numpy(self) -> np.ndarray[Any, Any]:
        """A NumPy array of the same memory, once pending launches are done.

        Later launches change it too: call `enceladus.synchronize()` before looking again. On a GPU
        with memory of its own (CUDA) it is a copy, which they do not change.
        """
        array: np.ndarray[Any, Any] = self._numpy()
        own = numpy_dtype(self._dtype_name)
        return array if array.dtype == own else array.view(own)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError(f"a {array.dtype} tensor cannot become {dtype} without a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers; one number for a tensor of no axes."""
        return self.numpy().tolist()

    def item(self) -> Any:
        """The only element as a Python number.

        Raises:
            ValueError: the tensor has not exactly one element.
        """
        if self.size != 1:
            raise ValueError(f"item() needs exactly one element, but the shape is {self.shape}")
        return self.numpy().item()

    def reshape(self, *shape: Any) -> Tensor:
        """The elements in C order under another shape; shares memory where strides allow it.

        Args:
            shape: ints or one tuple; one extent may be -1 and is computed.

        Raises:
            ValueError: the shape holds another number of elements.
        """
        extents = _unpacked_shape(shape)
        view = self._reshape_view(extents)
        return view if view is not None else self.clone().view(extents)

    def view(self, *shape: Any) -> Tensor:
        """As `reshape`, but never copies.

        Raises:
            ValueError: no view has that shape.
        """
        extents = _unpacked_shape(shape)
        view = self._reshape_view(extents)
        if view is None:
            raise ValueError(
                f"a tensor with strides {self.strides} has no view of shape {tuple(extents)}; "
                "use reshape(), which copies"
            )
        return view

    @property
    def T(self) -> Tensor:
        """The same memory with the axes in reverse order."""
        return self._transposed()

    def copy_(self, source: Any) -> Tensor:
        """Overwrites the elements with those of an array, broadcast and converted; returns self."""
        if not self._is_shared:
            return overwrite(self, source)
        self._checked_numpy()[...] = storable(host_array(source), self._dtype_name)
        return self

    def fill_(self, value: Any) -> Tensor:
        """Sets every element to one number; returns self."""
        if not self._is_shared:
            return overwrite(self, value)
        self._checked_numpy()[...] = storable(value, self._dtype_name)
        return self

    def clone(self) -> Tensor:
        """A C-contiguous copy."""
        return empty_like(self).copy_(self)

    def to(self, dtype: Any) -> Tensor:
        """The tensor converted to a dtype; the tensor itself when it has that one."""
        name = dtype_name(dtype)
        return self if name == self._dtype_name else empty_like(self, dtype=name).copy_(self)

    def _check_writable(self) -> None:
        if not self.writable:
            raise ValueError("the tensor is read-only: it shares memory with a read-only array")

    def _checked_numpy(self) -> np.ndarray[Any, Any]:
        self._check_writable()
        return self.numpy()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """For CuPy, Numba and PyTorch: a CUDA tensor's memory, ready in the default stream."""
        return cuda_array_interface(self)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        place = self.__dlpack_device__()
        wanted = place if dl_device is None else tuple(dl_device)
        as_host = place[0] == METAL and wanted[0] == CPU  # it is the same memory
        if wanted != place and not as_host:
            raise BufferError(
                f"a tensor on {self.device} cannot be exported to DLPack device {dl_device}"
            )
        source = self.clone() if copy else self
        if place[0] == CUDA and stream not in (None, -1):
            if not isinstance(stream, int) or stream < 1:
                raise ValueError(f"stream={stream!r} for DLPack: a stream's handle, None or -1")
            source._make_wait(stream)
        elif stream not in (None, -1):
            raise BufferError(f"a tensor on {self.device} has no stream to wait on")
        versioned = max_version is not None and max_version[0] >= 1
        return source._dlpack(versioned, bool(copy), as_host)

    def __dlpack_device__(self) -> tuple[int, int]:
        place: tuple[int, int] = self._dlpack_device()
        return place

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("a tensor of no axes has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        return (self._subscript(index) for index in range(len(self)))

    def __getitem__(self, key: Any) -> Tensor:
        return self._subscript(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._subscript(key).copy_(value)

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        if not (self.dtype.is_int() and self.ndim == 0):
            raise TypeError("only an integer tensor of no axes is an index")
        return int(self.item())

    def __repr__(self) -> str:
        text = np.array2string(self.numpy(), separator=", ", prefix="Tensor(")
        return f"Tensor({text}, dtype={self._dtype_name}, device={self.device})"


_core.register_tensor_type(Tensor)


def shape_tuple(shape: Any) -> tuple[int, ...]:
    """A shape given as an int or a sequence of ints.

    Raises:
        TypeError: it is neither.
    """
    if hasattr(shape, "__index__"):
        return (operator.index(shape),)
    if not isinstance(shape, Sequence) or isinstance(shape, str):
        raise TypeError(f"a shape is an int or a tuple of ints, not {shape!r}")
    try:
        return tuple(operator.index(extent) for extent in shape)
    except TypeError:
        raise TypeError(f"a shape is an int or a tuple of ints, not {shape!r}") from None


def check_array(function: str, like: Any) -> None:
    """Raises a TypeError where a function takes an array and got something else."""
    if not (hasattr(like, "shape") and hasattr(like, "dtype")):
        raise TypeError(
            f"enceladus.{function} takes an array, not {like!r} of type {type(like).__name__}"
        )


def _unpacked_shape(shape: tuple[Any, ...]) -> list[int]:
    return list(shape_tuple(shape[0] if len(shape) == 1 else shape))


def _allocate(shape: Any, dtype: Any, device: Any, zeroed: bool) -> Tensor:
    chosen = _core.current_device() if device is None else resolve(device).name
    return _core.allocate(list(shape_tuple(shape)), dtype_name(dtype), zeroed, chosen)


def empty(shape: Any, dtype: Any = "float32", device: Any = None) -> Tensor:
    """A tensor whose elements are undefined.

    Args:
        shape: an int or a tuple of ints; extents may be 0.
        dtype: a name such as `"float16"`, a NumPy dtype or a `tl` dtype.
        device: a name such as `"cpu"`; the current device where it is None.

    Raises:
        ValueError: an extent is negative, or the device is not here.
        TypeError: it is no shape, or no dtype.
        MemoryError: there is not that much memory.
    """
    return _allocate(shape, dtype, device, zeroed=False)


def zeros(shape: Any, dtype: Any = "float32", device: Any = None) -> Tensor:
    """A tensor of zeros; see `empty`."""
    return _allocate(shape, dtype, device, zeroed=True)


def ones(shape: Any, dtype: Any = "float32", device: Any = None) -> Tensor:
    """A tensor of ones; see `empty`."""
    return empty(shape, dtype, device).fill_(1)


def full(shape: Any, value: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor with every element `value`; see `empty`.

    Without a dtype, a bool gives int1, an int int32 (int64 where it does not fit), and a float
    float32.

    Raises:
        TypeError: the value is no number.
    """
    _check_numbers("full", value)
    return empty(shape, _dtype_of_number(value) if dtype is None else dtype, device).fill_(value)


def _check_numbers(function: str, *values: Any) -> None:
    for value in values:
        if not isinstance(value, (int, float, np.number, np.bool_)) and not _is_other_number(value):
            raise TypeError(f"enceladus.{function} takes numbers, not {value!r}")


def _is_other_number(value: Any) -> bool:
    """bfloat16, float8 and an array of no axes: not what NumPy calls a number."""
    return hasattr(value, "dtype") and getattr(value, "shape", None) == ()


def _dtype_of_number(value: Any) -> Any:
    if hasattr(value, "dtype"):
        return value.dtype
    if isinstance(value, int) and not isinstance(value, bool):
        return "int32" if -(2**31) <= value < 2**31 else "int64"
    return type(value)


def arange(
    start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, device: Any = None
) -> Tensor:
    """Evenly spaced values in [start, stop), as NumPy's; float32 or int32 without a dtype.

    Raises:
        TypeError: a bound or the step is no number.
        ValueError: the step is 0.
    """
    if stop is None:
        start, stop = 0, start
    _check_numbers("arange", start, stop, step)
    if step == 0:
        raise ValueError(f"the step of enceladus.arange({start}, {stop}, {step}) must not be 0")
    if dtype is None:
        is_real = any(isinstance(value, (float, np.floating)) for value in (start, stop, step))
        dtype = "float32" if is_real else _dtype_of_number(int(max(abs(start), abs(stop))))
    values = np.arange(start, stop, step)
    return empty(values.shape, dtype, device).copy_(values)


def empty_like(like: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A C-contiguous tensor with the shape, dtype and device of an array; see `empty`."""
    check_array("empty_like", like)
    if device is None and isinstance(like, Tensor):
        device = like.device
    return empty(tuple(like.shape), like.dtype if dtype is None else dtype, device)


def zeros_like(like: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of zeros with the shape, dtype and device of an array; see `empty`."""
    check_array("zeros_like", like)
    if device is None and isinstance(like, Tensor):
        device = like.device
    return zeros(tuple(like.shape), like.dtype if dtype is None else dtype, device)


def from_numpy(array: np.ndarray[Any, Any], device: Any = None) -> Tensor:
    """A tensor of a NumPy array's elements.

    On the CPU it shares the array's memory and keeps it alive, and a read-only array gives a
    read-only tensor, which kernels may not write to. So it does on a Metal device where the array
    is C-contiguous and begins on a page of 16 KiB; anywhere else it is a copy.

    Raises:
        TypeError: it is no NumPy array, or of a dtype that kernels do not have.
    """
    chosen = resolve(_core.current_device() if device is None else device)
    shared: Tensor = _core.tensor_from_numpy(array)
    if chosen.name == "cpu":
        return shared
    wrapped: Tensor | None = _core.metal_tensor_from_numpy(array, chosen.name)
    return empty_like(shared, device=chosen).copy_(array) if wrapped is None else wrapped


def from_dlpack(source: Any) -> Tensor:
    """A tensor that shares memory with any array that has `__dlpack__`, and keeps it alive.

    An array that has `__cuda_array_interface__` alone, as Numba's, is taken too.

    Raises:
        TypeError: it has neither, or a dtype that kernels do not have.
        ValueError: it lies on a device that is not here.
    """
    finish_producer(source)
    return _core.tensor_from_exchange(source)
