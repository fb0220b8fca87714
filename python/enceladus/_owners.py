"""Naming the owners of dependency records, so that a new process finds them again.

A path starts at the kernel and goes through values already found: `g` is the kernel's globals,
`f` its closure, `g3`, `f3` and `v3` the globals, the closure and the value of record 3, `p1:g` and
`p1:f` those of the function given as constexpr parameter 1, `m:name` a loaded module.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from typing import Any

from enceladus._dependencies import MISSING, Record, present_value

__all__ = ["name_owners", "resolve"]

# (owner's path, name), in an order in which each path leads through earlier records alone.
NamedRecord = tuple[str, str]


def plain_function(value: Any) -> types.FunctionType | None:
    """The Python function of a jit function or a function; None for anything else."""
    function = getattr(value, "fn", value)
    return function if isinstance(function, types.FunctionType) else None


class _Paths:
    """The owners that can be named so far, by identity."""

    def __init__(self, kernel: Any, constants: Sequence[Any]) -> None:
        self.known: dict[int, str] = {}
        self.add_function(kernel, "")
        for index, constant in enumerate(constants):
            self.add_function(constant, f"p{index}:")

    def add_function(self, value: Any, prefix: str, suffix: str = "") -> None:
        function = plain_function(value)
        if function is None:
            return
        self.known.setdefault(id(function.__globals__), f"{prefix}g{suffix}")
        for cell in function.__closure__ or ():
            self.known.setdefault(id(cell), f"{prefix}f{suffix}")

    def add_value(self, value: Any, index: int) -> None:
        self.add_function(value, "", str(index))
        self.known.setdefault(id(value), f"v{index}")
        if isinstance(value, types.ModuleType):
            self.known.setdefault(id(vars(value)), f"v{index}")

    def of(self, owner: Any) -> str | None:
        path = self.known.get(id(owner))
        if path is not None:
            return path
        scope = vars(owner) if isinstance(owner, types.ModuleType) else owner
        name = scope.get("__name__") if isinstance(scope, dict) else None
        module = sys.modules.get(name) if isinstance(name, str) else None
        return f"m:{name}" if module is not None and vars(module) is scope else None


def name_owners(
    kernel: Any, constants: Sequence[Any], records: Sequence[Record]
) -> tuple[list[NamedRecord], list[Record]] | None:
    """Paths for all records and the records in that order; None where an owner has no path.

    `constants` are the values of the constexpr parameters in order (anything for the others).
    """
    paths = _Paths(kernel, constants)
    named: list[NamedRecord] = []
    ordered: list[Record] = []
    waiting = list(records)
    while waiting:
        later = []
        for record in waiting:
            owner, name, value = record
            path = paths.of(owner)
            if path is None:
                later.append(record)
                continue
            paths.add_value(value, len(ordered))
            named.append((path, name))
            ordered.append(record)
        if len(later) == len(waiting):
            return None
        waiting = later
    return named, ordered


def resolve(
    kernel: Any, constants: Sequence[Any], named: Sequence[NamedRecord]
) -> list[Record] | None:
    """The records as they are in this process; None where one does not exist here."""
    records: list[Record] = []
    for path, name in named:
        owner = owner_at(path, name, kernel, constants, records)
        value = MISSING if owner is None else present_value(owner, name)
        if value is MISSING:
            return None
        records.append((owner, name, value))
    return records


def owner_at(
    path: str, name: str, kernel: Any, constants: Sequence[Any], records: Sequence[Record]
) -> Any:
    """What a path leads to; None where it leads nowhere."""
    kind, _, rest = path.partition(":")
    if kind == "m":
        module = sys.modules.get(rest)
        return None if module is None else vars(module)
    if kind.startswith("p"):
        return part_of(constants[int(kind[1:])], rest, name)
    index = path[1:]
    if path[0] == "v":
        return records[int(index)][2]
    return part_of(records[int(index)][2] if index else kernel, path[0], name)


def part_of(value: Any, part: str, name: str) -> Any:
    """A function's globals (`g`), or its closure's cell of that name (`f`)."""
    function = plain_function(value)
    if function is None:
        return None
    if part == "g":
        return function.__globals__
    free = function.__code__.co_freevars
    return (function.__closure__ or ())[free.index(name)] if name in free else None
