"""Constexprs that are computed from the other arguments of a launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from enceladus.tuning.wrapper import KernelWrapper

__all__ = ["Heuristics"]


class Heuristics(KernelWrapper):
    """Computes constexprs from the other arguments at each launch; made by `heuristics`."""

    def __init__(self, fn: Any, values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> None:
        super().__init__(fn)
        self._check_names("heuristics", list(values))
        self.values = dict(values)

    def _completed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        for name, value in self.values.items():
            kwargs[name] = value(self._named(args, kwargs))
        return kwargs

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Launches with the computed constexprs."""
        return self.fn.run(*args, grid=grid, **self._completed(args, kwargs))

    def warmup(self, *args: Any, grid: Any = None, **kwargs: Any) -> Any:
        """Compiles with the computed constexprs."""
        return self.fn.warmup(*args, grid=grid, **self._completed(args, kwargs))

    def explain(self, *args: Any, grid: Any = None, **kwargs: Any) -> Any:
        """Explains with the computed constexprs."""
        return self.fn.explain(*args, grid=grid, **self._completed(args, kwargs))
