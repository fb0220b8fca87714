"""The environment variables, one table.

Everything that reads one goes through `read`, at the time of use, so that a change in a running
process counts. The launch path (C++) looks for INTERPRET and DEBUG itself, at each launch, by the
rules of `parse_switch`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "VARIABLES",
    "Variable",
    "cache_directory",
    "metal_capture_enabled",
    "read",
    "settings",
]


def parse_switch(text: str) -> bool:
    """False for an empty string, 0, false, no and off in any case; else true."""
    return text.strip().lower() not in ("", "0", "false", "no", "off")


def parse_text(text: str) -> str | None:
    """The text, None where it is empty."""
    return text or None


def parse_positive(text: str) -> int | None:
    """A whole number of at least 1; None where the text is empty."""
    if not text.strip():
        return None
    value = int(text)
    if value < 1:
        raise ValueError("at least 1 is needed")
    return value


@dataclass(frozen=True)
class Variable:
    """One environment variable: its name without the prefix, default, parser and description."""

    name: str
    default: Any
    parse: Callable[[str], Any]
    doc: str

    @property
    def full_name(self) -> str:
        """The name in the environment."""
        return f"ENCELADUS_{self.name}"


VARIABLES: dict[str, Variable] = {
    variable.name: variable
    for variable in (
        Variable("DEVICE", None, parse_text, "the default device: metal, cuda:0, cpu, metal-sim"),
        Variable("INTERPRET", False, parse_switch, "1 runs kernels in the Python interpreter"),
        Variable("DEBUG", False, parse_switch, "1 turns on device_assert and bounds checks"),
        Variable("DUMP", False, parse_switch, "1 writes every stage and prints its path"),
        Variable("CACHE_DIR", None, parse_text, "where caches live; default ~/.cache/enceladus"),
        Variable("ALWAYS_COMPILE", False, parse_switch, "1 ignores what the disk caches hold"),
        Variable(
            "OVERRIDE_DIR", None, parse_text, "DIR/KERNEL.ll, .metal or .cu replaces what we emit"
        ),
        Variable("VERIFY", False, parse_switch, "1 verifies the IR after every pass"),
        Variable("PRINT_AUTOTUNING", False, parse_switch, "1 prints what autotuning chose"),
        Variable("FLUSH_EVERY", 64, parse_positive, "launches in one submission to a GPU"),
        Variable("NUM_THREADS", None, parse_positive, "threads of the CPU target; default: all"),
    )
}


def read(name: str) -> Any:
    """The present value of `ENCELADUS_<name>`, parsed; its default where it is not set.

    Raises:
        ValueError: the text is not what the variable takes; the message names both.
    """
    variable = VARIABLES[name]
    text = os.environ.get(variable.full_name)
    if text is None:
        return variable.default
    try:
        value = variable.parse(text)
    except ValueError as error:
        raise ValueError(f"{variable.full_name}={text!r}: {error} ({variable.doc})") from None
    return variable.default if value is None else value


def settings() -> list[tuple[str, str]]:
    """The full name and the text of each variable that is set."""
    names = [variable.full_name for variable in VARIABLES.values()]
    return [(name, os.environ[name]) for name in names if name in os.environ]


def check_all() -> None:
    """Raises for a variable whose text is wrong, also one that nothing here would read.

    Raises:
        ValueError: as `read`.
    """
    for name in VARIABLES:
        read(name)


def cache_directory() -> str:
    """The folder of all caches; it need not exist."""
    chosen: str | None = read("CACHE_DIR")
    if chosen is not None:
        return os.path.abspath(os.path.expanduser(chosen))
    return os.path.join(os.path.expanduser("~"), ".cache", "enceladus")


def metal_capture_enabled() -> bool:
    """Whether Metal's own variable for captures is set, which it reads at the process's start."""
    return os.environ.get("MTL_CAPTURE_ENABLED") == "1"
