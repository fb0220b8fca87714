"""Contenders that take turns, medians, ratios, and the files that keep them.

A `Case` is one piece of work that several contenders do on the same inputs; a `Report` collects
the cases of one subject, prints them and writes `results/`.
"""

import json
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import enceladus
from benchmarks.machine import describe_machine

SLOW_MILLISECONDS = 1000  # with a contender this slow, three rounds are enough
RESULTS = Path(__file__).parent / "results"
OURS = "enceladus"


@dataclass
class Case:
    """One piece of work.

    Attributes:
        title: what and how large.
        contenders: by name, a function that does the work once; ours may return before it is done.
        amount: bytes moved at least, or operations, of one run.
        unit: `"GB/s"` or `"GFLOP/s"`, what `amount` is counted in.
        ceiling: the machine's measured rate in that unit; None where there is none.
        results: by name, a function that gives the result as NumPy, to compare before timing.
        tolerance: of that comparison, relative to the largest magnitude.
    """

    title: str
    contenders: dict[str, Callable[[], object]]
    amount: float
    unit: str
    ceiling: float | None = None
    results: dict[str, Callable[[], np.ndarray]] = field(default_factory=dict)
    tolerance: float = 1e-4


@dataclass
class Timing:
    """What one contender needed: milliseconds of each round."""

    name: str
    rounds: list[float]

    @property
    def median(self):
        return statistics.median(self.rounds)


def check(case):
    """Raises unless every contender computed what the first one did."""
    expected = None
    for name, result in case.results.items():
        case.contenders[name]()
        enceladus.synchronize()
        found = np.asarray(result(), np.float64)
        if expected is None:
            expected, scale = found, float(np.abs(found).max())
        error = float(np.abs(found - expected).max())
        if not error <= case.tolerance * scale:
            raise AssertionError(f"{case.title}: {name} is off by {error} of {scale}")


def run_once(call, count):
    """Milliseconds of one call, as the mean over `count` of them."""
    start = time.perf_counter_ns()
    for _ in range(count):
        call()
    enceladus.synchronize()
    return (time.perf_counter_ns() - start) * 1e-6 / count


def measure(case, rounds=9, milliseconds=30.0, settle=50.0):
    """Times the contenders in turns; each turn lasts for about `milliseconds`.

    A turn begins with about `settle` milliseconds that are not counted: threads of the contender
    before (OpenMP's) spin for as long after their work and hold a processor that this one needs.
    """
    check(case)
    counts, untimed, slowest = {}, {}, 0.0
    for name, call in case.contenders.items():
        run_once(call, 1)
        estimate = max(run_once(call, 1), 1e-4)
        slowest = max(slowest, estimate)
        counts[name] = max(1, min(1000, math.ceil(milliseconds / estimate)))
        untimed[name] = max(1, math.ceil(settle / estimate)) if estimate < SLOW_MILLISECONDS else 0
    timings = {name: Timing(name, []) for name in case.contenders}
    order = list(case.contenders)
    if slowest > SLOW_MILLISECONDS:
        rounds = min(rounds, 3)
    for index in range(rounds):
        for name in order if index % 2 == 0 else reversed(order):
            if untimed[name]:
                run_once(case.contenders[name], untimed[name])
            timings[name].rounds.append(run_once(case.contenders[name], counts[name]))
    return list(timings.values())


class Report:
    """The tables of one subject.

    Args:
        subject: the file name of the results.
        quick: small sizes and few rounds; the results are printed and not kept.
    """

    def __init__(self, subject, quick=False):
        self.subject = subject
        self.quick = quick
        self.machine = describe_machine()
        self.tables = []
        print(f"# {subject}: {self.machine['processor']}, {self.machine['threads']} threads")

    def add(self, case):
        """Measures a case and prints its table."""
        durations = {"milliseconds": 5, "settle": 1} if self.quick else {}
        timings = measure(case, rounds=3 if self.quick else 9, **durations)
        ours = next((t.median for t in timings if t.name.startswith(OURS)), None)
        factor = 1e6 if case.unit.startswith("G") else 1.0
        rows = []
        for timing in timings:
            rate = case.amount / timing.median / factor
            rows.append(
                {
                    "contender": timing.name,
                    "ms": timing.median,
                    "fastest ms": min(timing.rounds),
                    case.unit: rate,
                    "enceladus is": None if ours is None else timing.median / ours,
                    "of ceiling": None if case.ceiling is None else rate / case.ceiling,
                }
            )
        self.table(case.title, rows)

    def table(self, title, rows):
        """Adds a finished table, a list of dicts with the same keys."""
        self.tables.append({"title": title, "rows": rows})
        print("\n" + as_markdown(title, rows))

    def write(self):
        """Writes `results/SUBJECT.json` and `.md`."""
        if self.quick:
            return
        RESULTS.mkdir(exist_ok=True)
        content = {"machine": self.machine, "tables": self.tables}
        (RESULTS / f"{self.subject}.json").write_text(json.dumps(content, indent=1) + "\n")
        lines = [f"# {self.subject}", "", f"`./dev bench {self.subject}` on:", ""]
        lines += [f"- {name}: {value}" for name, value in self.machine.items()]
        lines += ["", *(as_markdown(t["title"], t["rows"]) for t in self.tables)]
        (RESULTS / f"{self.subject}.md").write_text("\n".join(lines))


def _cell(name, value):
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    if name == "of ceiling":
        return f"{value:.0%}"
    if name == "enceladus is":
        return f"{value:.2f}x"
    return f"{value:.4g}"


def as_markdown(title, rows):
    """A table with aligned columns."""
    names = [name for name in rows[0] if any(row[name] is not None for row in rows)]
    cells = [names, *([_cell(name, row[name]) for name in names] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(names))]
    lines = []
    for row in cells:
        padded = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(f"| {' | '.join(padded)} |")
    rule = [
        "-" * (width + 2) if i == 0 else "-" * (width + 1) + ":" for i, width in enumerate(widths)
    ]
    lines.insert(1, f"|{'|'.join(rule)}|")
    return "\n".join([f"## {title}", "", *lines, ""])
