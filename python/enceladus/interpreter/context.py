"""What the interpreter knows while a program runs, and where the kernel stands in its file.

Not here: values and operations. One context a launch and thread.
"""

import linecache
import pathlib
import sys
import threading
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NoReturn

from enceladus.errors import CompilationError

_PACKAGE = str(pathlib.Path(__file__).parent.parent)
_OURS = tuple(f"{_PACKAGE}/{folder}/" for folder in ("interpreter", "language")) + (
    f"{_PACKAGE}/jit.py",
)


@dataclass
class Context:
    """One launch on this thread.

    Attributes:
        grid: the launch grid, three extents.
        program: the point of the grid that runs.
        functions: Python function -> the function that runs in its place, for this launch.
    """

    grid: tuple[int, int, int]
    program: tuple[int, int, int] = (0, 0, 0)
    functions: dict[Any, Any] = field(default_factory=dict)


class _Current(threading.local):
    context: Context | None = None


_current = _Current()


def current() -> Context:
    """The launch that runs on this thread."""
    assert _current.context is not None, "no kernel is being interpreted"
    return _current.context


def set_current(context: Context | None) -> Context | None:
    """Replaces the launch of this thread, and returns the one before."""
    previous = _current.context
    _current.context = context
    return previous


@dataclass(frozen=True)
class Place:
    """A line of the kernel; `str` gives `file:line`."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def place() -> Place:
    """The innermost line on the stack that belongs to the user."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno) if frame else Place("<unknown>", 0)


class TileConditionError(CompilationError):
    """A tile stands where a scalar condition must."""


def fail(
    message: str, hint: str = "", error: type[CompilationError] = CompilationError
) -> NoReturn:
    """Raises what the compiler would raise, with the kernel's line."""
    where = place()
    source = linecache.getline(where.file, where.line).rstrip()
    text = f"{where}: error: {message}"
    if source:
        text += f"\n{where.line:5} | {source}"
    if hint:
        text += f"\n  hint: {hint}"
    raise error(text)
