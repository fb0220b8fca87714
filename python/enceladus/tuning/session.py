"""One tuning of one key: compile all candidates, try them, leave the arguments as they were."""

from __future__ import annotations

import os
import statistics
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from enceladus._timing import Work, sample
from enceladus.devices import Device, current_device, device, synchronize
from enceladus.testing._close import to_numpy
from enceladus.tuning.arguments import Snapshot, is_array, zero
from enceladus.tuning.config import Config
from enceladus.tuning.contest import ROUNDS, finalists, run_final, winner
from enceladus.tuning.progress import Progress

__all__ = ["Launch", "Outcome", "Settings", "tune"]

# How far the stores of two candidates may lie apart, relative to the largest magnitude: they sum
# in different orders, so more than a few roundings of each dtype.
_AGREEMENT = {
    "float64": 1e-10,
    "float32": 1e-3,
    "float16": 2e-2,
    "bfloat16": 1e-1,
    "float8_e4m3fn": 0.25,
    "float8_e5m2": 0.5,
}


class Kernel(Protocol):
    """What tuning needs of a kernel."""

    __name__: str

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Launches."""

    def warmup(self, *args: Any, grid: Any = None, **kwargs: Any) -> Any:
        """Compiles."""


@dataclass(frozen=True)
class Settings:
    """What `enceladus.autotune` was told; see there."""

    reset_to_zero: Sequence[str] = ()
    restore_value: Sequence[str] = ()
    pre_hook: Callable[..., Any] | None = None
    post_hook: Callable[..., Any] | None = None
    warmup: float = 10
    rep: float = 40
    tolerance: float = 0.01
    check_candidates: bool = False


@dataclass(frozen=True)
class Launch:
    """The launch that made tuning necessary.

    Attributes:
        kernel: the kernel under the autotuner.
        grid: the grid function.
        args: positional arguments.
        kwargs: named arguments and options.
        named: every argument by name.
    """

    kernel: Kernel
    grid: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    named: Mapping[str, Any]

    def run(self, config: Config) -> None:
        """Launches with the config."""
        self.kernel.run(*self.args, grid=self.grid, **self.kwargs, **config.all_kwargs())

    def compile(self, config: Config) -> Any:
        """The compiled kernel of the config."""
        options = {**self.kwargs, **config.all_kwargs()}
        return self.kernel.warmup(*self.args, grid=self.grid, **options)


@dataclass
class Outcome:
    """The config that won, and milliseconds of each candidate that ran."""

    config: Config
    times: dict[Config, float]


@dataclass
class _Session:
    """The state of one tuning."""

    launch: Launch
    configs: Sequence[Config]
    settings: Settings
    failures: dict[Config, Exception] = field(default_factory=dict)

    def run(self) -> Outcome:
        steps = 2 * len(self.configs) + ROUNDS
        with Progress(f"autotuning {self.launch.kernel.__name__}", steps) as self.progress:
            compiled = self._compile_all()
            self._raise_if_none_left()
            self.snapshot = self._snapshot(list(compiled.values()))
            with self._arguments_restored():
                outcome = self._contest(list(compiled))
                if self.settings.check_candidates:
                    self._compare_stores(list(outcome.times))
        self._warn_of_failures()
        return outcome

    @contextmanager
    def _arguments_restored(self) -> Iterator[None]:
        """Undoes every trial at the end, however it ends: also after Ctrl-C."""
        try:
            yield
        finally:
            self.snapshot.restore_all()

    def _compile_all(self) -> dict[Config, Any]:
        """Compiles in parallel; the compiled kernels of those that compile."""
        workers = ThreadPoolExecutor(min(len(self.configs), os.cpu_count() or 1))
        compiled = {}
        try:
            futures = {
                config: workers.submit(self._compile, config, current_device())
                for config in self.configs
            }
            for config, future in futures.items():
                try:
                    compiled[config] = future.result()
                except Exception as error:
                    self.failures[config] = error
                self.progress.advance()
        finally:
            workers.shutdown(cancel_futures=True)
        return compiled

    def _compile(self, config: Config, target: Device) -> Any:
        with device(target):  # the current device belongs to the thread
            return self.launch.compile(config)

    def _snapshot(self, compiled: Sequence[Any]) -> Snapshot:
        """Saves what the candidates write; a kernel that does not say may write every array."""
        read = set(self.settings.restore_value)
        written = {*self.settings.reset_to_zero, *self.settings.restore_value}
        for kernel in compiled:
            artifact = getattr(kernel, "artifact", None)
            if artifact is None:
                arrays = {name for name, value in self.launch.named.items() if is_array(value)}
                return Snapshot(self.launch.named, arrays, arrays)
            read |= {parameter.name for parameter in artifact.parameters if parameter.is_read}
            written |= {p.name for p in artifact.parameters if p.is_written}
        return Snapshot(self.launch.named, written, read)

    def _contest(self, candidates: Sequence[Config]) -> Outcome:
        times: dict[Config, float] = {}
        for config in candidates:
            try:
                times[config] = self._measure(config, self.settings.rep)
            except Exception as error:
                self.failures[config] = error
            self.progress.advance()
        if not times:
            self._raise_if_none_left()
        best = finalists(times)
        if len(best) > 1:
            share = self.settings.rep / 2
            times |= run_final(best, lambda config: self._measure(config, share))
        self.progress.advance(ROUNDS)
        chosen = winner(
            {config: times[config] for config in best}, self.configs, self.settings.tolerance
        )
        return Outcome(chosen, times)

    def _measure(self, config: Config, rep: float) -> float:
        """The median milliseconds of a candidate."""
        named = {**self.launch.named, **config.all_kwargs()}
        post_hook = self.settings.post_hook
        work = Work(
            call=lambda: self.launch.run(config),
            prepare=lambda: self._prepare(config, named),
            finish=None if post_hook is None else lambda: post_hook(named, exception=None),
        )
        try:
            return statistics.median(sample(work, self.settings.warmup, rep))
        except Exception as error:
            if post_hook is not None:
                post_hook(named, exception=error)
            raise

    def _prepare(self, config: Config, named: dict[str, Any]) -> None:
        """Brings the arguments into the state in which a launch finds them."""
        self.snapshot.restore_inputs()
        for name in self.settings.reset_to_zero:
            zero(named[name])
        if config.pre_hook is not None:
            config.pre_hook(named)
        if self.settings.pre_hook is not None:
            self.settings.pre_hook(named)

    def _compare_stores(self, candidates: Sequence[Config]) -> None:
        """Warns where two candidates, started from one state, stored different values."""
        reference: dict[str, Any] = {}
        for config in candidates:
            self.snapshot.restore_all()
            self._prepare(config, {**self.launch.named, **config.all_kwargs()})
            self.launch.run(config)
            synchronize()
            stored = {name: to_numpy(x).copy() for name, x in self.snapshot.written.items()}
            reference = reference or stored
            for name, value in stored.items():
                if not _agree(reference[name], value):
                    warnings.warn(
                        f"autotune of `{self.launch.kernel.__name__}`: {config!r} stores other "
                        f"values in `{name}` than {candidates[0]!r}",
                        stacklevel=2,
                    )

    def _raise_if_none_left(self) -> None:
        if len(self.failures) == len(self.configs):
            raise self.failures[self.configs[0]]

    def _warn_of_failures(self) -> None:
        if not self.failures:
            return
        lines = [f"\n  {config!r}: {error}" for config, error in self.failures.items()]
        warnings.warn(
            f"autotune of `{self.launch.kernel.__name__}` skipped {len(lines)} of "
            f"{len(self.configs)} configs:{''.join(lines)}",
            stacklevel=2,
        )


def _agree(left: Any, right: Any) -> bool:
    tolerance = _AGREEMENT.get(left.dtype.name)
    if tolerance is None:
        return np.array_equal(left, right)
    wide = np.float64
    left, right = left.astype(wide), right.astype(wide)
    finite = np.isfinite(left)
    scale = float(np.max(np.abs(left[finite]), initial=0.0))
    return np.allclose(left, right, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def tune(launch: Launch, configs: Sequence[Config], settings: Settings) -> Outcome:
    """Finds the fastest config for a launch.

    Every argument is afterwards as it was before, also when a candidate fails or the user
    interrupts.

    Args:
        launch: the kernel and its arguments.
        configs: the candidates; at least one. One that is listed twice is tried once.
        settings: how to try them.

    Raises:
        Exception: the first candidate's error, where none compiles and runs.
    """
    return _Session(launch, tuple(dict.fromkeys(configs)), settings).run()
