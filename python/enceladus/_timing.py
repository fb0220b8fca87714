"""Timing one call on the device: what `testing.do_bench` and the autotuner share.

Times come from events in the device's stream, so what the host does before the first launch and
after the last one does not count. Not a profiler: it sees whole calls only.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from enceladus._core import Event, evict_caches
from enceladus.devices import current_device, synchronize

__all__ = ["Work", "sample", "time_once"]


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


def time_once(work: Work) -> float:
    """Milliseconds that the device works for the call, with cold caches.

    From the start of the first launch to the end of the last one. A call without a launch, such as
    an operation of PyTorch on the CPU, counts as long as the host takes for it.
    """
    if work.prepare is not None:
        work.prepare()
    evict_caches()
    start, end = Event(), Event()
    start.record()
    # PyTorch's CPU operations do not wait for our queue. On CUDA they do, and waiting here would
    # let the device run dry, so that the host's part of the launch counts.
    if not current_device().name.startswith("cuda"):
        synchronize()
    before = time.perf_counter_ns()
    work.call()
    end.record()
    synchronize()
    host = (time.perf_counter_ns() - before) * 1e-6
    if work.finish is not None:
        work.finish()
    return start.elapsed_ms(end) or host


def sample(work: Work, warmup: float, repeat: float) -> list[float]:
    """Times a call again and again.

    Args:
        work: what to time.
        warmup: milliseconds of repeats before the timed ones, eviction and preparation counted in.
        repeat: the same for the timed ones; at least one is run.

    Returns:
        Milliseconds of each timed repeat.
    """
    time_once(work)  # compiles, and touches the pages of fresh arrays
    start = time.perf_counter_ns()
    first = time_once(work)
    whole = max((time.perf_counter_ns() - start) * 1e-6, 1e-6)
    if whole >= warmup + repeat:
        return [first]
    for _ in range(int(warmup / whole)):
        time_once(work)
    return [time_once(work) for _ in range(max(1, int(repeat / whole)))]
