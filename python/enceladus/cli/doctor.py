"""`enceladus doctor`: does this machine's device do what the compiler relies on?

Gives a report in Markdown for an issue: the machine, what each check found, and how fast copies and
products are. Not a test suite: it covers what can differ between machines, not the language.
"""

from __future__ import annotations

import platform
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

import numpy as np

import enceladus
from enceladus._environment import settings
from enceladus.cli.checks import CHECKS, MismatchError
from enceladus.cli.fragments import fragments
from enceladus.cli.limits import limits
from enceladus.cli.rates import rates

__all__ = ["Report", "examine"]

_SIMULATED = "metal-sim"


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes:
        name: the check's.
        state: `ok`, `WRONG` (a promise broken) or `FAILED` (the check itself did not run through).
        detail: one line.
    """

    name: str
    state: str
    detail: str


@dataclass(frozen=True)
class Report:
    """Everything found about one device; prints as Markdown."""

    device: str
    machine: list[tuple[str, str]]
    findings: list[Finding]
    rates: list[tuple[str, str, str]]

    @property
    def is_well(self) -> bool:
        """Whether every check passed."""
        return all(finding.state == "ok" for finding in self.findings)

    def __str__(self) -> str:
        lines = [f"# enceladus doctor: {self.device}", ""]
        lines += [f"- {name}: {value}" for name, value in self.machine]
        lines += ["", "| check | | found |", "|---|---|---|"]
        lines += [f"| {f.name} | {f.state} | {f.detail} |" for f in self.findings]
        if self.rates:
            lines += ["", "| rate | here | M4 Pro, published |", "|---|---|---|"]
            lines += [f"| {name} | {here} | {there} |" for name, here, there in self.rates]
        elif self.device == _SIMULATED:
            lines += ["", "No rates: the simulator's times are not a GPU's."]
        return "\n".join(lines)


def _machine(device: str) -> list[tuple[str, str]]:
    rows = [
        ("enceladus", enceladus.__version__),
        ("devices", ", ".join(map(str, enceladus.devices()))),
        ("system", platform.platform()),
        ("processor", platform.processor() or platform.machine()),
        ("python", sys.version.split()[0]),
        ("numpy", np.__version__),
    ]
    if platform.system() == "Darwin":
        rows.append(("macOS", platform.mac_ver()[0]))
    with enceladus.device(device) as found:
        rows += [(name.replace("_", " "), value) for name, value in found.properties.items()]
    return rows + settings()


def _run(name: str, check: Callable[[str], str], device: str) -> Finding:
    try:
        return Finding(name, "ok", check(device))
    except MismatchError as wrong:
        return Finding(name, "WRONG", str(wrong))
    except Exception as failure:
        # One line for the table; the whole trace goes to the terminal.
        traceback.print_exc()
        first = (str(failure).strip().splitlines() or [""])[0]
        return Finding(name, "FAILED", f"{type(failure).__name__}: {first}")


def _checks(device: str) -> list[tuple[str, Callable[[str], str]]]:
    metal = device.startswith("metal")
    return [*([("limits", limits), ("fragment layout", fragments)] if metal else []), *CHECKS]


def examine(device: str, *, quick: bool = False, progress: TextIO | None = None) -> Report:
    """Runs every check on a device.

    Args:
        device: `metal`, `metal-sim`, `cuda:0` or `cpu`.
        quick: measures rates with small arrays.
        progress: where a line is written as each check ends.

    Returns:
        The report. A check that fails is a row of it, never an exception.
    """
    findings = []
    for name, check in _checks(device):
        start = time.perf_counter()
        findings.append(_run(name, check, device))
        if progress is not None:
            seconds = time.perf_counter() - start
            print(f"{name}: {findings[-1].state} ({seconds:.1f} s)", file=progress, flush=True)
    measured: list[tuple[str, str, str]] = []
    if device != _SIMULATED:
        measured = rates(device, quick)
    return Report(device, _machine(device), findings, measured)
