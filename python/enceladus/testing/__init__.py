"""Timing, comparing, reporting and simulating."""

from enceladus.testing._bench import do_bench
from enceladus.testing._close import assert_close
from enceladus.testing._report import Benchmark, Mark, perf_report
from enceladus.testing._simulator import simulated

__all__ = ["Benchmark", "Mark", "assert_close", "do_bench", "perf_report", "simulated"]
