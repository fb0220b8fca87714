"""The report of `kernel.explain`: what the compiler did, as text, as a dict and as HTML."""

from __future__ import annotations

import html
import json
import linecache
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from enceladus import _core
from enceladus._ceilings import Ceilings, ceilings_of
from enceladus._gpu_ceilings import gpu_ceilings_of

if TYPE_CHECKING:
    from enceladus.compiled import CompiledKernel

__all__ = ["Report"]

_SOURCE_WIDTH = 48  # columns of a source line beside a row


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
        report = cls("\n".join(text_lines(content)))
        report._content = content
        return report

    def to_dict(self) -> dict[str, Any]:
        """The content: numbers, strings, lists and dicts alone."""
        copy: dict[str, Any] = json.loads(json.dumps(self._content))
        return copy

    def _repr_html_(self) -> str:
        """For notebooks."""
        return "".join(html_parts(self._content))


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
    if artifact.bytes_per_program:
        intensity = artifact.operations_per_program / artifact.bytes_per_program
        content["operations_per_byte"] = round(intensity, 3)
    content.update(resources_of(artifact))
    if grid is not None:
        programs = programs_of(grid)
        content["programs"] = programs
        content["bytes"] = programs * artifact.bytes_per_program
        content["operations"] = programs * artifact.operations_per_program
    details = json.loads(artifact.explain) if artifact.explain else {}
    add_roofline(content, details)
    content["arguments"] = [
        {"name": p.name, "dtype": p.dtype, "use": use_of(p)} for p in artifact.parameters
    ]
    content.update(with_source_lines(details))
    return content


_RESERVED_SHARED_BYTES = 1024  # of each program, for the driver


def resources_of(artifact: Any) -> dict[str, Any]:
    """What a program takes on a GPU: registers and spills as the target's compiler counted them."""
    if artifact.target == "cpu":
        return {}
    found: dict[str, Any] = {"shared_memory_bytes": artifact.shared_bytes}
    if artifact.registers < 0:
        return found
    found["registers_per_thread"] = artifact.registers
    found["spilled_bytes_per_thread"] = max(artifact.spills, 0)
    properties = device_properties()
    if "registers of a multiprocessor" in properties and artifact.target == "cuda":
        found["occupancy"] = occupancy_of(artifact, properties)
    return found


def device_properties() -> dict[str, str]:
    """What the current device says of itself."""
    return dict(_core.device_properties(_core.current_device()))


def occupancy_of(artifact: Any, properties: Mapping[str, str]) -> dict[str, Any]:
    """Programs that a multiprocessor holds at once, and what ends their number."""
    registers, threads, shared, programs = (
        int(properties[f"{name} of a multiprocessor"])
        for name in ("registers", "threads", "shared memory bytes", "programs")
    )
    warps = -(-artifact.threads // 32)
    # Registers are given out to a warp, 256 at a time.
    warp_registers = -(-max(artifact.registers, 1) * 32 // 256) * 256
    held = {
        "registers": registers // warp_registers // warps,
        "threads": threads // (32 * warps),
        "shared memory": shared // (artifact.shared_bytes + _RESERVED_SHARED_BYTES),
        "programs": programs,
    }
    limit = min(held, key=lambda name: held[name])
    return {
        "programs_per_multiprocessor": held[limit],
        "threads": f"{100 * held[limit] * 32 * warps // threads} %",
        "limited_by": limit,
    }


def arithmetic_of(details: Mapping[str, Any]) -> str:
    """The dtype of the products by matrix units, where there are any; else that of the cores."""
    for row in details.get("dots", ()):
        if row["backend"] in ("wgmma", "mma"):
            return str(row["operands"].split(" @ ")[0])
    return "float32"


def ceilings_for(content: Mapping[str, Any], details: Mapping[str, Any]) -> Ceilings | None:
    """What bounds the kernel on its device; None where that is not known."""
    if content["target"] != "cuda":
        rows = details.get("dots", ())
        uses_amx = any(row["backend"].startswith("AMX") for row in rows)  # whose rate none measured
        return None if uses_amx else ceilings_of(content["target"])
    card = gpu_ceilings_of(device_properties())
    rate = card.operations_per_second.get(arithmetic_of(details)) if card else None
    return Ceilings(card.bytes_per_second, rate) if card and rate else None


def add_roofline(content: dict[str, Any], details: Mapping[str, Any]) -> None:
    """What the device's ceilings say of the kernel's bytes and operations.

    The bytes are those that the kernel asks for, so what it asks for again, and the caches have,
    counts again.
    """
    ceilings = ceilings_for(content, details)
    if ceilings is None:
        return
    memory_seconds = content["bytes_per_program"] / ceilings.bytes_per_second
    arithmetic_seconds = content["operations_per_program"] / ceilings.operations_per_second
    if not memory_seconds and not arithmetic_seconds:
        return
    bound = "memory" if memory_seconds >= arithmetic_seconds else "arithmetic"
    content["roofline"] = {
        "bound_by": bound,
        "copy_gb_per_s": round(ceilings.bytes_per_second * 1e-9, 2),
        "multiply_add_gflop_per_s": round(ceilings.operations_per_second * 1e-9, 2),
        "ridge_operations_per_byte": round(
            ceilings.operations_per_second / ceilings.bytes_per_second, 2
        ),
    }
    if content["target"] == "cuda":
        card = gpu_ceilings_of(device_properties())
        content["roofline"]["arithmetic"] = arithmetic_of(details)
        content["roofline"]["ceilings"] = card.source if card else ""
    if "programs" in content:
        least = content["programs"] * max(memory_seconds, arithmetic_seconds)
        content["roofline"]["least_ms"] = float(f"{least * 1e3:.4g}")


def with_source_lines(content: dict[str, Any]) -> dict[str, Any]:
    """The same with the text of its source line in each row."""
    for rows in content.values():
        for row in rows if isinstance(rows, list) else ():
            if "line" in row:
                row["source"] = linecache.getline(row.pop("file"), row["line"]).strip()
    return content


def use_of(parameter: Any) -> str:
    """What the kernel does with an argument."""
    if not parameter.is_pointer:
        return "value"
    uses = (("read", parameter.is_read), ("written", parameter.is_written))
    return " and ".join(word for word, is_so in uses if is_so) or "unused"


def programs_of(grid: Any) -> int:
    """How many programs a grid has."""
    programs = 1
    for extent in grid if isinstance(grid, (tuple, list)) else (grid,):
        programs *= int(extent)
    return programs


def text_lines(content: Mapping[str, Any]) -> list[str]:
    """Single values first, a line each; then the tables."""
    lines = [f"{content['kernel']} for {content['target']}"]
    for name, value in single_values(content).items():
        lines.append(f"  {title_of(name)}: {value_text(value)}")
    for name, rows in tables(content).items():
        lines.append(f"  {title_of(name)}:")
        cells = [
            columns_of(rows),
            *([value_text(row.get(c, "")) for c in columns_of(rows)] for row in rows),
        ]
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        for row in cells:
            padded = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            lines.append(f"    {padded}".rstrip())
    return lines


def html_parts(content: Mapping[str, Any]) -> list[str]:
    """The same as `text_lines`, as HTML."""
    parts = [f"<b>{html.escape(content['kernel'])}</b> for {html.escape(content['target'])}<ul>"]
    for name, value in single_values(content).items():
        parts.append(f"<li>{title_of(name)}: {html.escape(value_text(value))}</li>")
    parts.append("</ul>")
    for name, rows in tables(content).items():
        columns = columns_of(rows)
        heads = "".join(f"<th>{html.escape(title_of(column))}</th>" for column in columns)
        parts.append(f"<table><caption>{title_of(name)}</caption><tr>{heads}</tr>")
        for row in rows:
            cells = (html.escape(value_text(row.get(column, ""))) for column in columns)
            parts.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
        parts.append("</table>")
    return parts


def single_values(content: Mapping[str, Any]) -> dict[str, Any]:
    """What is no table, without the heading's own values."""
    return {
        name: value
        for name, value in content.items()
        if not isinstance(value, list) and name not in ("kernel", "target")
    }


def tables(content: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The lists of rows that are not empty."""
    return {name: rows for name, rows in content.items() if isinstance(rows, list) and rows}


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every name that a row has, in order of appearance; the source line last."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [name for name in names if name != "source"] + ["source"] * ("source" in names)


def title_of(name: str) -> str:
    """A name as words."""
    return name.replace("_", " ")


def value_text(value: Any) -> str:
    """A value in one line of text."""
    if isinstance(value, dict):
        return ", ".join(f"{title_of(name)} {value_text(item)}" for name, item in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value)
    return text if len(text) <= _SOURCE_WIDTH * 2 else text[: _SOURCE_WIDTH * 2 - 3] + "..."
