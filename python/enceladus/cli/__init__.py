"""The command line: `enceladus doctor`."""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence

import enceladus

__all__ = ["main"]


def _doctor(options: argparse.Namespace) -> int:
    from enceladus.cli.doctor import examine  # the checks compile kernels: only where asked for

    name = str(enceladus.devices()[0]) if options.device is None else options.device
    with enceladus.device(name) as device:
        report = examine(str(device), quick=options.quick, progress=sys.stderr)
    print(report)
    if options.output is not None:
        options.output.write_text(f"{report}\n", encoding="utf-8")
    return 0 if report.is_well else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
        arguments: what stands behind the program's name; the process's own by default.

    Returns:
        The exit status: 0 where all is well, 1 where a check failed, 2 for a wrong argument.
    """
    parser = argparse.ArgumentParser(prog="enceladus", description=enceladus.__doc__)
    parser.add_argument("--version", action="version", version=enceladus.__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    doctor = commands.add_parser("doctor", help="check that a device does what kernels rely on")
    doctor.add_argument("--device", help="metal, metal-sim, cuda:0 or cpu; the default one first")
    doctor.add_argument("--quick", action="store_true", help="measure rates with small arrays")
    doctor.add_argument("--output", type=pathlib.Path, help="also write the report to this file")
    doctor.set_defaults(run=_doctor)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except ValueError as wrong:  # no such device: the message lists those that are
        parser.error(str(wrong))
