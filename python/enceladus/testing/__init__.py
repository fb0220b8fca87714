"""Timing, comparing and reporting: `do_bench`, `assert_close`, `perf_report`."""

from enceladus.testing._bench import do_bench
from enceladus.testing._close import assert_close
from enceladus.testing._report import Benchmark, Mark, perf_report

__all__ = ["Benchmark", "Mark", "assert_close", "do_bench", "perf_report"]
