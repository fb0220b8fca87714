"""The bar that shows how far a long tuning is. Only on a terminal, only after a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

__all__ = ["Progress"]

_PATIENCE_SECONDS = 1.0


class Progress:
    """Counts steps; shows a bar on stderr when it is a terminal and the work takes long.

    Args:
        title: what is shown beside the bar.
        total: how many steps there are.
    """

    def __init__(self, title: str, total: int) -> None:
        self._title = title
        self._total = total
        self._done = 0
        self._start = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, steps: int = 1) -> None:
        """Says that `steps` more are done."""
        self._done += steps
        if self._bar is None and self._wanted():
            self._open()
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done)

    def _wanted(self) -> bool:
        if self._done >= self._total or time.monotonic() - self._start < _PATIENCE_SECONDS:
            return False
        return sys.stderr is not None and sys.stderr.isatty()

    def _open(self) -> None:
        try:
            import rich.console
            import rich.progress
        except ImportError:  # the bar is a comfort of an optional extra
            self._start = float("inf")
            return
        console = rich.console.Console(stderr=True)
        self._bar = rich.progress.Progress(console=console, transient=True)
        self._task = self._bar.add_task(self._title, total=self._total)
        self._bar.start()
