"""The report of `kernel.explain`: what the compiler did, as text, as a dict and as HTML."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from enceladus.compiled import CompiledKernel

__all__ = ["Report"]


class Report(str):
    """The text of a report, with its content as data.

    Example:
        >>> report = kernel.explain(x, y, n, BLOCK=1024)  # doctest: +SKIP
        >>> report.to_dict()["target"]  # doctest: +SKIP
        'cpu'
    """

    _content: dict[str, Any]

    @classmethod
    def of(cls, compiled: CompiledKernel, grid: Any = None) -> Report:
        """The report of a compiled kernel; with a grid, totals besides figures for one program."""
        content = content_of(compiled, grid)
        report = cls("\n".join(lines_of(content)))
        report._content = content
        return report

    def to_dict(self) -> dict[str, Any]:
        """The content: numbers, strings, lists and dicts alone."""
        copy: dict[str, Any] = json.loads(json.dumps(self._content))
        return copy

    def _repr_html_(self) -> str:
        """For notebooks."""
        return f"<pre>{html.escape(str(self))}</pre>"


def content_of(compiled: CompiledKernel, grid: Any) -> dict[str, Any]:
    """What there is to say, in the order in which it is shown."""
    artifact = compiled.artifact
    content: dict[str, Any] = {
        "kernel": compiled.name,
        "target": artifact.target,
        "num_warps": artifact.num_warps,
        "bytes_per_program": artifact.bytes_per_program,
        "operations_per_program": artifact.operations_per_program,
    }
    if grid is not None:
        programs = programs_of(grid)
        content["programs"] = programs
        content["bytes"] = programs * artifact.bytes_per_program
        content["operations"] = programs * artifact.operations_per_program
    content["arguments"] = [
        {"name": p.name, "dtype": p.dtype, "pointer": p.is_pointer, "use": use_of(p)}
        for p in artifact.parameters
    ]
    if artifact.explain:
        content.update(json.loads(artifact.explain))
    return content


def use_of(parameter: Any) -> str:
    """What the kernel does with an argument."""
    if not parameter.is_pointer:
        return "value"
    words = [
        word
        for word, is_so in (("read", parameter.is_read), ("written", parameter.is_written))
        if is_so
    ]
    return " and ".join(words) or "unused"


def programs_of(grid: Any) -> int:
    """How many programs a grid has."""
    extents = grid if isinstance(grid, (tuple, list)) else (grid,)
    programs = 1
    for extent in extents:
        programs *= int(extent)
    return programs


def lines_of(content: dict[str, Any], indent: str = "") -> list[str]:
    """The content as lines: a name and its value, lists one item a line."""
    lines = []
    for name, value in content.items():
        title = f"{indent}{name.replace('_', ' ')}:"
        if isinstance(value, dict):
            lines += [title, *lines_of(value, indent + "  ")]
        elif isinstance(value, list):
            lines += [title, *(f"{indent}  {item_text(item)}" for item in value)]
        else:
            lines.append(f"{title} {value_text(value)}")
    return lines


def item_text(item: Any) -> str:
    """One item of a list on one line."""
    if isinstance(item, dict):
        return ", ".join(
            f"{name.replace('_', ' ')} {value_text(value)}" for name, value in item.items()
        )
    return value_text(item)


def value_text(value: Any) -> str:
    """Whole numbers without a fraction, everything else as it is."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
