"""`Config`: one way to launch a kernel, a candidate of the autotuner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from enceladus._suggestions import refuse_unknown

__all__ = ["DOT_BACKENDS", "Config"]

DOT_BACKENDS = ("auto", "simdgroup", "mpp", "wgmma", "mma")
_MAX_WARPS = 32


def _checked_warps(num_warps: object) -> int:
    if isinstance(num_warps, bool) or not isinstance(num_warps, int):
        raise TypeError(f"num_warps is an integer, not {num_warps!r}")
    if not 1 <= num_warps <= _MAX_WARPS or num_warps & (num_warps - 1):
        raise ValueError(f"num_warps is a power of two from 1 to {_MAX_WARPS}, not {num_warps}")
    return num_warps


def _checked_dot_warps(dot_warps: object, num_warps: int) -> tuple[int, int] | None:
    if dot_warps is None:
        return None
    if not isinstance(dot_warps, (tuple, list)) or len(dot_warps) != 2:
        raise TypeError(f"dot_warps is a pair (WM, WN), not {dot_warps!r}")
    if not all(isinstance(extent, int) and not isinstance(extent, bool) for extent in dot_warps):
        raise TypeError(f"dot_warps is a pair of integers (WM, WN), not {dot_warps!r}")
    rows, columns = dot_warps
    if rows < 1 or columns < 1 or rows * columns != num_warps:
        raise ValueError(
            f"dot_warps={(rows, columns)} arranges {rows * columns} warps, "
            f"but num_warps is {num_warps}"
        )
    return rows, columns


class Config:
    """Constexprs and launch options that are tried together.

    Two configs are equal when all fields are; a config is hashable, and its `repr` can be pasted.

    Args:
        kwargs: constexpr names and values.
        num_warps: a power of two; a hint only on the CPU.
        dot_warps: `(WM, WN)`, the warps as a grid over each dot result; `WM * WN == num_warps`.
        dot_backend: one of `DOT_BACKENDS`; None leaves it to the launch.
        num_stages: depth of pipelined loops; None leaves it to the compiler.
        pre_hook: called with a dict of every argument by name before each launch with this config.

    Raises:
        TypeError, ValueError: an option that no target takes.

    Example:
        >>> enceladus.Config({"BM": 64, "BN": 32}, num_warps=4, dot_warps=(4, 1))
        enceladus.Config({'BM': 64, 'BN': 32}, num_warps=4, dot_warps=(4, 1))
    """

    __slots__ = ("dot_backend", "dot_warps", "kwargs", "num_stages", "num_warps", "pre_hook")

    def __init__(
        self,
        kwargs: Mapping[str, Any],
        num_warps: int = 4,
        dot_warps: tuple[int, int] | None = None,
        dot_backend: str | None = None,
        num_stages: int | None = None,
        pre_hook: Callable[[dict[str, Any]], Any] | None = None,
        **unknown: Any,
    ) -> None:
        refuse_unknown(Config.__init__, unknown)
        if not isinstance(kwargs, Mapping) or not all(isinstance(name, str) for name in kwargs):
            raise TypeError(f"a Config takes a dict of constexprs by name, not {kwargs!r}")
        if pre_hook is not None and not callable(pre_hook):
            raise TypeError(f"pre_hook takes a function, not {pre_hook!r}")
        if dot_backend is not None and dot_backend not in DOT_BACKENDS:
            known = ", ".join(DOT_BACKENDS)
            raise ValueError(f"dot_backend={dot_backend!r} is unknown; the backends are {known}")
        is_whole = isinstance(num_stages, int) and not isinstance(num_stages, bool)
        if num_stages is not None and (not is_whole or num_stages < 1):
            raise ValueError(f"num_stages is an integer of at least 1, not {num_stages!r}")
        self.kwargs = dict(kwargs)
        self.num_warps = _checked_warps(num_warps)
        self.dot_warps = _checked_dot_warps(dot_warps, self.num_warps)
        self.dot_backend = dot_backend
        self.num_stages = num_stages
        self.pre_hook = pre_hook

    def options(self) -> dict[str, Any]:
        """The launch options that are set."""
        named = {
            "num_warps": self.num_warps,
            "dot_warps": self.dot_warps,
            "dot_backend": self.dot_backend,
            "num_stages": self.num_stages,
        }
        return {name: value for name, value in named.items() if value is not None}

    def all_kwargs(self) -> dict[str, Any]:
        """Constexprs and options together, as a launch takes them."""
        return {**self.kwargs, **self.options()}

    def _fields(self) -> tuple[Any, ...]:
        constexprs = tuple(sorted(self.kwargs.items(), key=lambda item: item[0]))
        return (constexprs, tuple(self.options().items()), self.pre_hook)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options().items())
        return f"enceladus.Config({self.kwargs!r}{options})"
