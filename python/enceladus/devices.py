"""Which device new tensors and launches use, and waiting for it."""

from __future__ import annotations

import atexit
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from enceladus import _core

__all__ = ["Device", "current_device", "device", "devices", "set_device", "synchronize"]


@dataclass(frozen=True)
class Device:
    """A place where kernels run. Prints as its name, and equals it.

    Attributes:
        name: `cpu`, `cuda:0`, `metal` or `metal-sim`.
    """

    name: str

    @property
    def properties(self) -> dict[str, str]:
        """What the device is and can do: GPU, family, limits. Opens it where it is not."""
        return dict(_core.device_properties(self.name))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"enceladus.Device({self.name!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Device):
            return self.name == other.name
        return self.name == other if isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)


# Objects by name, made when they are first named: looking for GPUs takes time and, with CUDA, makes
# the process one that must not fork, so importing does not.
_device = functools.cache(Device)


def devices() -> tuple[Device, ...]:
    """The devices of this machine, the default one first."""
    return tuple(map(_device, _core.device_names()))


def resolve(chosen: Any) -> Device:
    """The device that a user named, by a string, a Device, or an object that prints as one.

    Raises:
        ValueError: there is no such device here; the message lists those that are.
    """
    return _device(_core.find_device(str(chosen)))


def current_device() -> Device:
    """The device of the innermost `with enceladus.device(...)` of this thread, else the default."""
    return _device(_core.current_device())


def set_device(chosen: Any) -> None:
    """Makes a device the default of the process.

    Args:
        chosen: `"cpu"`, `"metal"`, `"cuda:0"`, `"metal-sim"`, or a Device.

    Raises:
        ValueError: there is no such device here.
    """
    _core.set_default_device(resolve(chosen).name)


@contextmanager
def device(chosen: Any) -> Iterator[Device]:
    """Makes a device the current one of this thread inside a `with` block.

    Example:
        >>> with enceladus.device("cpu"):
        ...     x = enceladus.zeros(4)
    """
    found = resolve(chosen)
    _core.push_device(found.name)
    try:
        yield found
    finally:
        _core.pop_device()


def synchronize(chosen: Any = None) -> None:
    """Waits for everything that was launched on a device, the current one by default.

    Raises:
        EnceladusError: a launch failed; the first failure, naming its kernel.
    """
    _core.synchronize(str(current_device() if chosen is None else resolve(chosen)))


@atexit.register
def _finish() -> None:
    """Lets the last launches of a program finish, and their printed lines out."""
    for name in _core.started_devices():
        _core.synchronize(name)
