"""The text of a user's function: where it is, and whether it can be had at all.

Reads through `linecache`, which knows files, notebook cells and strings that the user registered
before `exec`. Does not parse the function; the frontend does.
"""

from __future__ import annotations

import inspect
import linecache
import re
import textwrap
import types
from dataclasses import dataclass

__all__ = ["FunctionSource", "source_of"]


@dataclass(frozen=True)
class FunctionSource:
    """The lines of one function, decorators included.

    Attributes:
        text: the lines without their common indentation.
        filename: the file as in a traceback.
        first_line: the line of the file that is line 1 of `text`.
        indent: how many columns the removed indentation was wide.
    """

    text: str
    filename: str
    first_line: int
    indent: int


def source_of(function: types.FunctionType) -> FunctionSource:
    """Finds the source of a function.

    Raises:
        OSError: there is no text; the message says why and what to do.
    """
    code = function.__code__
    filename = code.co_filename
    linecache.checkcache(filename)
    lines = linecache.getlines(filename, function.__globals__)
    if not lines:
        raise OSError(missing_source_message(function.__name__, filename))
    block = inspect.getblock(lines[code.co_firstlineno - 1 :])
    text = "".join(block)
    if not re.search(rf"^\s*(async\s+)?def\s+{re.escape(code.co_name)}\b", text, re.MULTILINE):
        raise OSError(
            f"line {code.co_firstlineno} of {filename} no longer holds `{code.co_name}`: the file "
            "changed after it was imported; reload it"
        )
    dedented = textwrap.dedent(text)
    first = block[0]
    indent = len(first) - len(first.lstrip())
    return FunctionSource(dedented, filename, code.co_firstlineno, indent)


def missing_source_message(name: str, filename: str) -> str:
    """Why a function has no text, by the kind of place it was made in."""
    reason = f"the source of `{name}` is not available ({filename})"
    if filename in ("<stdin>", "<string>") or filename.startswith("<"):
        return (
            f"{reason}: kernels are compiled from their text. Put it in a file or a notebook, or "
            "register the text before exec: linecache.cache[filename] = (len(text), None, "
            "text.splitlines(keepends=True), filename), with filename given to compile()"
        )
    return f"{reason}: the file cannot be read"
