"""Times on a GPU: calls captured in a CUDA graph, rotated over input sets larger than the L2, in
samples that end before the board's power limit lowers the clock (`idle` seconds of rest first)."""

import math
import statistics
import time

import torch

L2_ROTATION = 512e6  # bytes of input sets that take turns
MOST_CALLS = 400


def events_ms(call):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


def sets_for(set_bytes):
    """How many input sets rotate."""
    return max(1, min(16, math.ceil(L2_ROTATION / set_bytes)))


class Plan:
    """One contender made ready: `count` calls over its input sets, in a graph where it can be
    captured, else launched one by one."""

    def __init__(self, calls, milliseconds=3.0):
        self.calls, self.graph, self.why = calls, None, ""
        for call in calls[:2]:
            call()
        torch.cuda.synchronize()
        few = min(len(calls), 3)
        each = max(events_ms(lambda: [calls[i]() for i in range(few)]) / few, 1e-3)
        count = max(1, min(MOST_CALLS, int(milliseconds / each)))
        self.count = math.ceil(count / len(calls)) * len(calls)
        try:
            self._capture()
        except Exception as error:
            self.graph, self.why = None, f"{type(error).__name__}: {error}"[:200]
            torch.cuda.synchronize()
        self._run(1)
        self.batch_ms = max(1e-3, events_ms(lambda: self._run(1)))

    def _launch(self):
        return [self.calls[i % len(self.calls)]() for i in range(self.count)]

    def _capture(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.calls[0]()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.outputs = self._launch()  # kept, so that no memory is used twice inside
        self.graph = graph

    def _run(self, batches):
        for _ in range(batches):
            if self.graph is None:
                self._launch()
            else:
                self.graph.replay()

    def sample(self, milliseconds, idle=0.0):
        """Microseconds of one call."""
        batches = max(1, math.ceil(milliseconds / self.batch_ms))
        if idle:
            torch.cuda.synchronize()
            time.sleep(idle)
        self._run(1)
        return events_ms(lambda: self._run(batches)) / batches / self.count * 1e3


def measure(plans, rounds, milliseconds, idle):
    """Median, least and most microseconds of each plan by name; the plans take turns."""
    samples = {name: [] for name in plans}
    for index in range(rounds):
        order = list(plans) if index % 2 == 0 else list(reversed(plans))
        for name in order:
            samples[name].append(plans[name].sample(milliseconds, idle))
    return {
        name: {"us": statistics.median(found), "us_min": min(found), "us_max": max(found)}
        for name, found in samples.items()
    }
