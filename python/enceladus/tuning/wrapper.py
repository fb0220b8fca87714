"""What stands above a kernel and launches like one: the base of autotuner and heuristics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from enceladus._suggestions import suggestion

__all__ = ["KernelWrapper"]


class KernelWrapper:
    """What stands above a kernel and launches like one.

    Attributes:
        fn: the kernel, or the wrapper, below.
        kernel: the `JITFunction` at the bottom.
    """

    def __init__(self, fn: Any) -> None:
        if not hasattr(fn, "run") or not hasattr(fn, "parameters"):
            raise TypeError(
                f"{type(self).__name__.lower()} stands above @enceladus.jit, not above {fn!r}"
            )
        self.fn = fn
        self.kernel: Any = fn.kernel if isinstance(fn, KernelWrapper) else fn
        self.parameters = list(fn.parameters)
        self.__name__: str = fn.__name__
        self.__doc__ = fn.__doc__
        self.__wrapped__ = fn
        self._names = [parameter.name for parameter in self.parameters]

    def __getattr__(self, name: str) -> Any:
        if name == "fn":
            raise AttributeError(name)
        return getattr(self.fn, name)

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Kernels are launched on a grid; a plain call is a mistake, and the kernel says so."""
        return self.fn(*args, **kwargs)

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Launches on a grid."""
        raise NotImplementedError

    def _named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments given, by name."""
        return {**dict(zip(self._names, args, strict=False)), **kwargs}

    def _check_names(self, what: str, names: Sequence[str]) -> None:
        for name in names:
            if name not in self._names:
                raise ValueError(
                    f"{what} names {name!r}, which is no argument of `{self.__name__}`"
                    f"{suggestion(name, self._names)}"
                )
