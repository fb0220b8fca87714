"""Counting compilations, and kernels made from text so that tests can change what they read."""

from __future__ import annotations

import itertools
import linecache
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from enceladus import _core

_numbers = itertools.count()


class Compilations:
    """Counts the calls of the compiler while it is installed; caches do not count."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._compile = _core.compile
        self._lock = threading.Lock()
        monkeypatch.setattr(_core, "compile", self)

    def __call__(self, kernel: Any, specs: Any, options: Any) -> Any:
        with self._lock:
            self.count += 1
        return self._compile(kernel, specs, options)


def module_of(text: str, **values: Any) -> dict[str, Any]:
    """Runs a text whose source can be found, and returns its globals."""
    name = f"<module {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": name, **values}
    exec(compile(text, name, "exec"), scope)  # noqa: S102
    return scope


def start_script(text: str, folder: Path, *arguments: str, **environment: str) -> Any:
    """Starts a Python process on a text, always at one path, so that caches may serve it."""
    path = folder / "script.py"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    tests = str(Path(__file__).parent)
    search = os.pathsep.join([*filter(None, sys.path), tests])
    return subprocess.Popen(
        [sys.executable, str(path), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": search, **environment},
    )


def run_script(text: str, folder: Path, *arguments: str, **environment: str) -> tuple[str, str]:
    """What a script printed to its output and its errors; it must end well."""
    process = start_script(text, folder, *arguments, **environment)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return output, errors
