"""Writes the reference pages from what is documented in the code: `reference.py FOLDER`.

The pages hold nothing of their own: docstrings of the package, the table of environment variables,
and the records of `src/ir/ops.def`.
"""

import enum
import importlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import enceladus.language as tl
from enceladus._environment import VARIABLES
from enceladus.language._registry import DESCRIPTOR_METHODS, TILE_METHODS

ROOT = Path(__file__).parent.parent
GROUPS = (
    "core programs creation memory arithmetic math shape reductions scans matrix atomics loops "
    "compile_time debug standard"
).split()
HOST_MODULES = ("enceladus", "enceladus.testing", "enceladus.configs")
SECTIONS = ("Args", "Returns", "Raises", "Example", "Attributes")


def signature(name: str, thing: Any) -> str:
    """`name(parameters)`, without the annotations, which the text explains."""
    if isinstance(thing, property) or (inspect.isclass(thing) and issubclass(thing, enum.Enum)):
        return name
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return name
    plain = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in parameters
        if parameter.name != "self"
    ]
    text = str(inspect.Signature(plain))
    return name + re.sub(r"<(PropagateNan\.\w+): \d+>", r"\1", text)


def text_of(documentation: str) -> str:
    """A Google docstring as Markdown: sections in bold, entries as a list, examples as code."""
    lines: list[str] = []
    section = ""
    for line in documentation.splitlines():
        heading = re.fullmatch(rf"({'|'.join(SECTIONS)}):", line)
        if heading:
            if section == "Example":
                lines.append("```")
            section = heading[1]
            lines.append(f"**{section}**\n" if section != "Example" else "```python")
        elif section and section != "Example":
            entry = re.fullmatch(r"    (\S[^:]*): (.*)", line)
            lines.append(
                f"- `{entry[1]}`: {entry[2]}" if entry and section != "Returns" else line.strip()
            )
        else:
            lines.append(line.removeprefix("    ") if section else line)
    return "\n".join([*lines, "```"] if section == "Example" else lines)


def entry(name: str, thing: Any, note: str = "") -> str:
    """The part of a page that describes one function or class."""
    documentation = text_of(inspect.getdoc(thing) or "")
    return f"### `{signature(name, thing)}`\n\n{note}{documentation}\n"


def methods_note(name: str) -> str:
    """The methods under which a function of the language is also found."""
    found = [f"`x.{method}`" for method, target in TILE_METHODS.items() if target == name]
    found += [f"`desc.{method}`" for method, target in DESCRIPTOR_METHODS.items() if target == name]
    return f"Also {', '.join(found)}.\n\n" if found else ""


def language_page() -> str:
    """Every function of `tl`, by group."""
    parts = ["# The language: `import enceladus.language as tl`\n"]
    for group in GROUPS:
        module = importlib.import_module(f"enceladus.language.{group}")
        parts.append(f"## {group.replace('_', ' ').capitalize()}\n\n{first_line(module)}\n")
        for name, thing in vars(module).items():
            if isinstance(thing, tl.dtype) and name in tl.__all__:
                parts.append(f"- `tl.{name}`: {thing.primitive_bitwidth} bits")
            elif name in tl.__all__ and getattr(thing, "__module__", "") == module.__name__:
                registered = getattr(thing, "_enc_builtin", name)
                parts.append(entry(f"tl.{name}", thing, methods_note(registered)))
    return "\n".join(parts)


def first_line(module: ModuleType) -> str:
    """What a module says it is for."""
    return (inspect.getdoc(module) or "").partition("\n")[0]


def host_page() -> str:
    """Every public function and class of the host's modules, and their public methods."""
    parts = ["# The host: `import enceladus`\n"]
    for module_name in HOST_MODULES:
        module = importlib.import_module(module_name)
        parts.append(f"## `{module_name}`\n\n{first_line(module)}\n")
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            parts.append(entry(f"{module_name}.{name}", thing))
            if inspect.isclass(thing):
                parts += [entry(f"{name}.{method}", code) for method, code in own_methods(thing)]
    return "\n".join(parts)


def own_methods(thing: type) -> list[tuple[str, Any]]:
    """The documented public methods and properties that a class itself defines."""
    found = []
    for name, member in vars(thing).items():
        usable = isinstance(member, property) or callable(member)
        if not name.startswith("_") and usable and inspect.getdoc(member):
            found.append((name, member))
    return found


def environment_page() -> str:
    """The environment variables."""
    rows = [f"| `{v.full_name}` | `{v.default}` | {v.doc} |" for v in VARIABLES.values()]
    return "\n".join(
        ["# Environment\n", "| name | default | meaning |", "|---|---|---|", *rows, ""]
    )


def operations_page() -> str:
    """The operations of the tile IR, from the records of ops.def."""
    parts = ["# The tile IR\n", "| operation | class | effect | operands | meaning | example |"]
    parts.append("|---|---|---|---|---|---|")
    quoted = r'"((?:[^"\\]|\\.)*)"'
    record = re.compile(
        rf"^OP\(\w+, (\w+), (\w+), (\w+), {quoted}, \w+, {quoted}, {quoted}, {quoted}\)", re.M
    )
    text = (ROOT / "src/ir/ops.def").read_text()
    records = record.findall(text)
    missing = len(re.findall(r"^OP\(", text, re.M)) - len(records)
    if missing:
        raise SystemExit(f"ops.def: {missing} records are not understood")
    for name, kind, effect, operands, _, summary, example in records:
        cells = (f"`{name}`", kind, effect, operands, summary, f"`{example}`")
        parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*parts, ""])


def main() -> None:
    """Writes the four pages."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    pages = {
        "language": language_page,
        "host": host_page,
        "environment": environment_page,
        "operations": operations_page,
    }
    for name, page in pages.items():
        (folder / f"{name}.md").write_text(page())
        print(folder / f"{name}.md")


if __name__ == "__main__":
    main()
