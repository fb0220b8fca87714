"""What tuning must know of a launch's arguments: their dtypes, and how to undo what trials write.

Arrays are told by what they offer (`dtype`, `copy_`, `clone`), so no framework is imported.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from enceladus.arrays import Tensor, from_dlpack
from enceladus.devices import current_device, synchronize

__all__ = ["ArgumentKey", "Snapshot", "dtype_name", "is_array", "zero"]

_INT32_MIN, _INT32_MAX = -(1 << 31), (1 << 31) - 1


def is_array(value: Any) -> bool:
    """Whether a launch passes the value as a pointer."""
    return hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, np.generic)


def dtype_name(value: Any) -> str:
    """The dtype of an argument as Enceladus names it: `float16`, `int1`, `int32`, ..."""
    if value is None:
        return "none"
    dtype = getattr(value, "dtype", None)
    if dtype is not None:
        name = getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]
        return "int1" if name in ("bool", "bool_") else str(name)
    if isinstance(value, bool):
        return "int1"
    if isinstance(value, int):
        return "int32" if _INT32_MIN <= value <= _INT32_MAX else "int64"
    return "float32" if isinstance(value, float) else type(value).__name__


def _device_name(arguments: Iterable[Any]) -> str:
    """Where a launch on these arguments runs."""
    for argument in arguments:
        device = getattr(argument, "device", None)
        if device is not None and not isinstance(argument, np.ndarray):
            return str(device)
    return current_device().name


def _kind(value: Any) -> Any:
    """What of an argument decides its dtype; quicker to find than the dtype's name."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None:
        return dtype
    return _INT32_MIN <= value <= _INT32_MAX if type(value) is int else type(value)


class ArgumentKey:
    """What a tuning is remembered under: values of `key`, dtypes of all arguments, the device.

    Made at each launch, so the texts wait until somebody asks for them.

    Args:
        values: of the arguments that `key` names.
        run_time: the arguments that are no constexprs.
    """

    __slots__ = ("_hash", "_identity", "_run_time", "_values")

    def __init__(self, values: Iterable[Any], run_time: Iterable[Any]) -> None:
        self._values, self._run_time = tuple(values), tuple(run_time)
        self._identity = (
            self._values,
            tuple(map(type, self._values)),
            tuple(map(_kind, self._run_time)),
            _device_name(self._run_time),
        )
        self._hash = hash(self._identity)

    @property
    def text(self) -> str:
        """As it is printed: values of `key`, then dtypes of the arrays."""
        dtypes = ",".join(dtype_name(value) for value in self._run_time if is_array(value))
        return "|".join([*(str(value) for value in self._values), dtypes])

    def texts(self) -> list[str]:
        """Everything that the choice depends on: the text, the device, dtypes of scalars too."""
        dtypes = [dtype_name(value) for value in self._run_time]
        return [self.text, _device_name(self._run_time), *dtypes]

    def without_arguments(self) -> ArgumentKey:
        """The same key to keep: it holds no array."""
        kept = copy.copy(self)
        kept._run_time = ()
        return kept

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArgumentKey) and self._identity == other._identity

    def __hash__(self) -> int:
        return self._hash


def _without_gradients(value: Any) -> Any:
    return value.detach() if hasattr(value, "detach") else value


def zero(value: Any) -> None:
    """Sets every element to zero, in place."""
    if isinstance(value, np.ndarray):
        value[...] = 0
    elif hasattr(value, "zero_"):
        _without_gradients(value).zero_()
    elif hasattr(value, "fill_"):
        value.fill_(0)
    elif (shared := _shared(value)) is not None:
        shared.fill_(0)
    else:
        raise TypeError(f"an array of type {type(value).__name__} cannot be set to zero")


def _saver(value: Any) -> Callable[[], Any] | None:
    """Copies an array; the function that copies it back. None for what cannot be written."""
    if isinstance(value, np.ndarray):
        if not value.flags.writeable:
            return None
        saved = value.copy()
        return lambda: np.copyto(value, saved)
    if hasattr(value, "clone") and hasattr(value, "copy_"):
        target = _without_gradients(value)
        clone = target.clone()
        return lambda: target.copy_(clone)
    shared = _shared(value)
    if shared is None or not shared.writable:
        return None
    kept = shared.clone()
    return lambda: shared.copy_(kept)


def _shared(value: Any) -> Tensor | None:
    """A tensor over the memory of an array whose library we do not know; None where it has none."""
    if hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__"):
        return from_dlpack(value)
    return None


def _extent(value: Any) -> tuple[int, int] | None:
    """The bytes [low, high) that an array spans; None where it does not say."""
    if isinstance(value, np.ndarray):
        start, item, steps = value.ctypes.data, value.itemsize, value.strides
    elif hasattr(value, "data_ptr") and hasattr(value, "element_size"):
        start, item = int(value.data_ptr()), int(value.element_size())
        strides = value.stride() if callable(getattr(value, "stride", None)) else value.strides
        steps = tuple(stride * item for stride in strides)
    else:
        return None
    if 0 in value.shape:
        return start, start
    reaches = [(extent - 1) * step for extent, step in zip(value.shape, steps, strict=True)]
    low = start + sum(reach for reach in reaches if reach < 0)
    return low, start + sum(reach for reach in reaches if reach > 0) + item


def _may_overlap(left: Any, right: Any) -> bool:
    first, second = _extent(left), _extent(right)
    if first is None or second is None:
        return True
    return first[0] < second[1] and second[0] < first[1]


class Snapshot:
    """The contents of the arrays that a kernel writes, from before the first trial.

    Args:
        arguments: every argument by name.
        written: names of the arguments that any candidate writes.
        read: names of those that any candidate reads. An array is also read when another argument
            that shares its memory is.
    """

    def __init__(
        self, arguments: Mapping[str, Any], written: Iterable[str], read: Iterable[str]
    ) -> None:
        arrays = {name: value for name, value in arguments.items() if is_array(value)}
        synchronize()
        sources = [arrays[name] for name in read if name in arrays]
        self._all: dict[str, Callable[[], Any]] = {}
        self._inputs: list[Callable[[], Any]] = []
        self.written = {name: arrays[name] for name in written if name in arrays}
        for name, value in self.written.items():
            restore = _saver(value)
            if restore is None:
                continue
            self._all[name] = restore
            if any(value is source or _may_overlap(value, source) for source in sources):
                self._inputs.append(restore)

    def restore_inputs(self) -> None:
        """Undoes what trials wrote into arrays that the kernel also reads."""
        self._run(self._inputs)

    def restore_all(self) -> None:
        """Undoes every trial."""
        self._run(list(self._all.values()))

    @staticmethod
    def _run(restores: list[Callable[[], Any]]) -> None:
        if restores:
            synchronize()
        for restore in restores:
            restore()
        if restores:
            synchronize()
