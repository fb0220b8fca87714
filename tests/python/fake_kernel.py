"""A kernel object without a compiler: what the autotuner's own tests stand on.

Its "device" is the calling thread; a launch sleeps for as long as the test says and calls the
test's function.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from enceladus import Config, autotune


@dataclass
class FakeParameter:
    """The fields of `enceladus.jit.Parameter` that matter here."""

    name: str
    is_constexpr: bool = False
    default: object = None
    has_default: bool = False


@dataclass
class FakeKernel:
    """`body` is called with every argument by name at each launch, options included."""

    names: list[str]
    constexprs: list[str]
    body: Callable[[dict[str, Any]], Any] = lambda named: None
    seconds: Callable[[dict[str, Any]], float] = lambda named: 0.0
    compile: Callable[[dict[str, Any]], Any] = lambda named: None
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.__name__ = "fake"
        self.parameters = [FakeParameter(name) for name in self.names]
        self.parameters += [FakeParameter(name, is_constexpr=True) for name in self.constexprs]
        self.launches: list[dict[str, Any]] = []
        self.compiled: list[dict[str, Any]] = []
        self.lock = threading.Lock()

    def digest(self) -> str:
        return f"digest of {self.__name__}"

    def is_interpreted(self) -> bool:
        return os.environ.get("ENCELADUS_INTERPRET") == "1"

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        return {**dict(zip([p.name for p in self.parameters], args, strict=False)), **kwargs}

    def warmup(self, *args: Any, grid: Any = None, **kwargs: Any) -> Any:
        named = self._bind(args, kwargs)
        self.compile(named)
        with self.lock:
            self.compiled.append(named)
        parameters = [
            SimpleNamespace(name=n, is_read=n in self.reads, is_written=n in self.writes)
            for n in self.names
        ]
        return SimpleNamespace(artifact=SimpleNamespace(parameters=parameters), named=named)

    def explain(self, *args: Any, grid: Any = None, **kwargs: Any) -> str:
        return f"explained {sorted(self._bind(args, kwargs).items(), key=lambda i: i[0])}"

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> None:
        named = self._bind(args, kwargs)
        if callable(grid):
            grid(named)
        self.launches.append(named)
        time.sleep(self.seconds(named))
        self.body(named)


GRID = lambda meta: (meta["BLOCK"],)  # noqa: E731
CONFIGS = [Config({"BLOCK": 16}), Config({"BLOCK": 32}), Config({"BLOCK": 64})]
# Milliseconds are chosen far apart, so that a busy machine cannot turn the order round.
SECONDS = {16: 0.03, 32: 0.002, 64: 0.05}


def seconds_of(named):
    return SECONDS[named["BLOCK"]]


def tuned(kernel, configs=CONFIGS, key=("n",), **options):
    options = {"warmup": 0, "rep": 1, **options}
    return autotune(configs, list(key), **options)(kernel)


def make_kernel(**options):
    return FakeKernel(["x", "y", "n"], ["BLOCK"], seconds=seconds_of, **options)


def arrays():
    return np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
