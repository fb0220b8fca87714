"""Timing one call on the device: what `testing.do_bench` and the autotuner share.

A `Stopwatch` belongs to one target. It evicts the caches, runs the call and says how long the
device worked. On the CPU the device's clock is the machine's steady clock, so a span starts with
an idle queue and ends when the queue is empty again. Not a profiler: it sees whole calls only.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from enceladus.devices import synchronize

__all__ = ["Stopwatch", "Work", "last_cache_bytes"]

_FALLBACK_CACHE_BYTES = 32 << 20
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@functools.cache
def last_cache_bytes() -> int:
    """The size of the largest CPU cache; 32 MiB where the machine does not say."""
    sizes = [
        int(match[1]) * _UNITS[match[2]]
        for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
        if (match := re.fullmatch(r"(\d+)([KMG]?)", path.read_text().strip()))
    ]
    return max(sizes, default=_FALLBACK_CACHE_BYTES)


@dataclass(frozen=True)
class Work:
    """A call to time, and what belongs to each repeat of it but not to the span.

    Attributes:
        call: launches the work.
        prepare: runs before each call, and before the caches are evicted.
        finish: runs after each call has finished.
    """

    call: Callable[[], Any]
    prepare: Callable[[], Any] | None = None
    finish: Callable[[], Any] | None = None


class Stopwatch:
    """Times calls on the CPU target.

    Args:
        flush: whether to evict the caches before every timed call, by writing a buffer that is
            twice as large as the last cache.
    """

    def __init__(self, flush: bool = True) -> None:
        self._buffer = np.empty(2 * last_cache_bytes(), np.uint8) if flush else None
        self._round = 0

    def evict(self) -> None:
        """Writes the buffer, so that nothing of the arguments is left in a cache."""
        if self._buffer is not None:
            self._round = (self._round + 1) & 0xFF
            self._buffer.fill(self._round)

    def time(self, work: Work) -> float:
        """Milliseconds from the start of the call until the device has finished it."""
        if work.prepare is not None:
            work.prepare()
        self.evict()
        synchronize()
        start = time.perf_counter_ns()
        work.call()
        synchronize()
        span = (time.perf_counter_ns() - start) * 1e-6
        if work.finish is not None:
            work.finish()
        return span

    def sample(self, work: Work, warmup: float, repeat: float) -> list[float]:
        """Times a call again and again.

        Args:
            work: what to time.
            warmup: milliseconds of repeats before the timed ones, eviction and preparation
                counted in.
            repeat: the same for the timed ones; at least one is run.

        Returns:
            Milliseconds of each timed repeat.
        """
        self.time(work)  # compiles, and touches the pages of fresh arrays
        start = time.perf_counter_ns()
        first = self.time(work)
        whole = max((time.perf_counter_ns() - start) * 1e-6, 1e-6)
        if whole >= warmup + repeat:
            return [first]
        for _ in range(int(warmup / whole)):
            self.time(work)
        return [self.time(work) for _ in range(max(1, int(repeat / whole)))]
