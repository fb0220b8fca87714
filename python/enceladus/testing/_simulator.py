"""`simulated`: how the device `metal-sim` runs kernels."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import threading
from collections.abc import Iterator
from typing import Any

from enceladus import _core
from enceladus.devices import resolve, synchronize

__all__ = ["Schedule", "simulated"]

Schedule = str
_SCHEDULES = {"in order": 0, "reversed": 1, "random": 2}
_DEVICE = "metal-sim"


class Library:
    """The simulator's control functions; see `src/simulator/fake_framework/control.h`."""

    def __init__(self) -> None:
        resolve(_DEVICE)  # the error where there is none
        folder = os.path.dirname(os.path.abspath(_core.__file__))
        self._library = ctypes.CDLL(os.path.join(folder, "libenceladus_metal_sim.so"))
        self.guard = threading.RLock()
        self.chosen: tuple[str, int, bool] = ("in order", 0, True)

    def choose(self, schedule: str, seed: int, strict: bool) -> None:
        """Sets how launches run from now on, once those before are done."""
        synchronize(_DEVICE)
        self.call("set_schedule", ctypes.c_int32(_SCHEDULES[schedule]), ctypes.c_uint64(seed))
        self.call("set_strict", ctypes.c_int32(strict))
        self.chosen = (schedule, seed, strict)

    def call(self, name: str, *arguments: Any) -> int:
        """Calls a function of the library that gives a whole number or nothing."""
        function = getattr(self._library, f"enceladus_sim_{name}")
        function.restype = ctypes.c_int64
        result: int = function(*arguments)
        return result

    def read(self, name: str) -> Any:
        """What a function that writes JSON has to say."""
        capacity = 1 << 16
        while True:
            text = ctypes.create_string_buffer(capacity)
            length = self.call(name, text, ctypes.c_int64(capacity))
            if length < capacity:
                return json.loads(text.value.decode())
            capacity = length + 1


@functools.cache
def library() -> Library:
    """The one of this process."""
    return Library()


@contextlib.contextmanager
def simulated(
    schedule: Schedule = "in order", seed: int = 0, strict: bool = True
) -> Iterator[None]:
    """Chooses, inside a `with` block, how `metal-sim` runs kernels, for every thread.

    A kernel without races computes the same under every schedule; one with a race that no schedule
    shows as a wrong number is still reported.

    Args:
        schedule: in which order SIMD groups run to their next barrier, and programs one after the
            other: `"in order"`, `"reversed"` or `"random"`.
        seed: of random schedules; each launch draws on from there.
        strict: whether a SIMD operation that only some lanes of a group execute is an error.

    Raises:
        ValueError: there is no such schedule, or no simulator here.

    Example:
        >>> with enceladus.testing.simulated("random", seed=3):
        ...     kernel[grid](x, y, n)
    """
    if schedule not in _SCHEDULES:
        raise ValueError(f"schedule is one of {', '.join(map(repr, _SCHEDULES))}, not {schedule!r}")
    simulator = library()
    with simulator.guard:
        before = simulator.chosen
        simulator.choose(schedule, seed, strict)
        try:
            yield
        finally:
            simulator.choose(*before)
