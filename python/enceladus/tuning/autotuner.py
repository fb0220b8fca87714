"""The object that `enceladus.autotune` makes: chooses a config at each launch, and remembers it."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from enceladus import _core
from enceladus._environment import read
from enceladus._suggestions import suggestion
from enceladus.tuning.arguments import ArgumentKey, is_array
from enceladus.tuning.choices import Choices
from enceladus.tuning.config import Config
from enceladus.tuning.identity import kernel_identity
from enceladus.tuning.pruning import Pruning
from enceladus.tuning.record import TuningRecord
from enceladus.tuning.session import Launch, Outcome, Settings, tune
from enceladus.tuning.wrapper import KernelWrapper

__all__ = ["Autotuner"]

# Trials of two threads would disturb each other's times, so a process tunes one key at a time.
_tuning = threading.RLock()


class Autotuner(_core.TunedBase, KernelWrapper):
    """Launches a kernel with the fastest of several configs; made by `autotune`.

    The base class remembers launches, so that one like an earlier one runs no Python.

    Attributes:
        configs: the candidates.
        cache: the config chosen for each key so far in this process.
        configs_timings: milliseconds of each candidate in the latest tuning of this process.
    """

    def __init__(
        self,
        fn: Any,
        configs: Sequence[Config],
        key: Sequence[str],
        pruning: Pruning,
        settings: Settings,
        cache_results: bool,
    ) -> None:
        super().__init__(fn)
        self.configs = list(configs)
        self.key = list(key)
        self.cache = Choices(self._forget_choices)
        self.configs_timings: dict[Config, float] = {}
        self._pruning = pruning
        self._settings = settings
        self._cache_results = cache_results
        self._check_declaration()
        self._set_by_configs = {name for config in self.configs for name in config.kwargs}
        self._reserved = {name for config in self.configs for name in config.all_kwargs()}
        positions = [self._names.index(name) for name in self._set_by_configs]
        self._first_reserved = min(positions, default=len(self._names))
        self._defaults = {p.name: p.default for p in self.parameters if p.has_default}
        self._run_time = [p.name for p in self.parameters if not p.is_constexpr]
        if isinstance(fn, _core.KernelBase):
            self._remember_choices(fn, self.key)

    @property
    def best_config(self) -> Config | None:
        """The config of the latest launch; None before the first."""
        latest: Config | None = self._latest_config
        return latest

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Launches; tunes first where the key is new."""
        self._launch(grid, args, kwargs)

    def _launch(self, grid: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Config | None:
        """Launches; returns the config where launches on such arguments need not come here."""
        self._check_launch(args, kwargs, grid)
        self._latest_grid = grid
        config = self._choose(args, kwargs, grid)
        self._latest_config = config
        if config.pre_hook is not None:
            config.pre_hook({**self._named(args, kwargs), **config.all_kwargs()})
        self.fn.run(*args, grid=grid, **kwargs, **config.all_kwargs())
        return config if config.pre_hook is None else None

    def config_for(self, *args: Any, grid: Any = None, **kwargs: Any) -> Config:
        """The `Config` that a launch on these arguments would use.

        Tunes where the key is new, on `grid`, or on the grid function of the latest launch.

        Raises:
            ValueError: it must tune, but there was no launch yet and no `grid`.
        """
        grid = grid if grid is not None else self._latest_grid
        if grid is not None:
            self._check_launch(args, kwargs, grid)
        return self._choose(args, kwargs, grid)

    def warmup(self, *args: Any, grid: Any = None, **kwargs: Any) -> Any:
        """Compiles every candidate, so that neither a launch nor tuning waits for the compiler.

        Returns:
            The compiled kernel of the config chosen for these arguments; before tuning, that of
            the first candidate. Constexprs and options given here win over those of a config.
        """
        config = self._known(args, kwargs)
        if config is not None:
            return self.fn.warmup(*args, grid=grid, **{**config.all_kwargs(), **kwargs})
        compiled = [
            self.fn.warmup(*args, grid=grid, **{**candidate.all_kwargs(), **kwargs})
            for candidate in self._candidates(args, kwargs)
        ]
        return compiled[0]

    def explain(self, *args: Any, grid: Any = None, **kwargs: Any) -> Any:
        """Explains the config chosen for these arguments; before tuning, the first candidate."""
        config = self._known(args, kwargs) or self._candidates(args, kwargs)[0]
        return self.fn.explain(*args, grid=grid, **{**config.all_kwargs(), **kwargs})

    def _check_declaration(self) -> None:
        if not self.configs:
            raise ValueError(f"autotune of `{self.__name__}` needs at least one config")
        constexprs = [p.name for p in self.parameters if p.is_constexpr]
        for config in self.configs:
            if not isinstance(config, Config):
                raise TypeError(f"configs holds {config!r}, which is no enceladus.Config")
            for name in config.kwargs:
                if name in constexprs:
                    continue
                if name in self._names:
                    raise ValueError(
                        f"{config!r} sets {name!r}, a run-time argument of `{self.__name__}`: "
                        "annotate it with tl.constexpr"
                    )
                raise ValueError(
                    f"{config!r} sets {name!r}, which is no constexpr of `{self.__name__}`"
                    f"{suggestion(name, constexprs)}"
                )
        self._check_names("key", self.key)
        for name in self.key:
            if any(name in config.kwargs for config in self.configs):
                raise ValueError(
                    f"key names {name!r}, which the configs set: a key is what a launch gives, "
                    "and the config is chosen by"
                )
        self._check_names("reset_to_zero", self._settings.reset_to_zero)
        self._check_names("restore_value", self._settings.restore_value)

    def _check_launch(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], grid: Any) -> None:
        if self._set_by_configs and not callable(grid):
            names = ", ".join(sorted(self._set_by_configs))
            raise TypeError(
                f"`{self.__name__}` is autotuned over {names}, so its grid cannot be the fixed "
                f"{grid!r}: use `lambda meta: ...` and compute it from meta[...]"
            )
        if len(args) <= self._first_reserved and self._reserved.isdisjoint(kwargs):
            return
        given = {*self._names[: len(args)], *kwargs}
        name = min(given & self._reserved)
        raise TypeError(
            f"`{self.__name__}` is autotuned: its configs set {name!r}, so a launch cannot"
        )

    def _argument_key(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ArgumentKey:
        named = {**self._defaults, **self._named(args, kwargs)}
        missing = [name for name in self.key if name not in named]
        if missing:
            raise TypeError(f"`{self.__name__}` misses the argument {missing[0]!r}")
        for name in self.key:
            self._check_key(name, named[name])
        run_time = (named[name] for name in self._run_time if name in named)
        return ArgumentKey((named[name] for name in self.key), run_time)

    def _check_key(self, name: str, value: Any) -> None:
        if is_array(value):
            raise TypeError(
                f"the key of `{self.__name__}` names {name!r}, an array: name sizes or strides "
                "(the dtypes of all arrays belong to every key)"
            )
        if not isinstance(value, Hashable):
            raise TypeError(
                f"the key of `{self.__name__}` names {name!r}, whose value {value!r} cannot be "
                f"compared: a {type(value).__name__} is not hashable"
            )

    def _candidates(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Config]:
        named = dict(zip(self._names, args, strict=False))
        return self._pruning.apply(self.configs, named, kwargs)

    def _record(self, key: ArgumentKey, candidates: Sequence[Config]) -> TuningRecord:
        identity = [*kernel_identity(self.kernel), *key.texts()]
        return TuningRecord(self.__name__, identity, candidates)

    def _known(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Config | None:
        """The choice for these arguments where there is one, in memory or on disk."""
        key = self._argument_key(args, kwargs)
        found = self.cache.get(key)
        if found is None and self._cache_results:
            found = self._record(key, self._candidates(args, kwargs)).load()
        return found

    def _choose(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], grid: Any) -> Config:
        if self.kernel.is_interpreted():
            return self.configs[0]
        key = self._argument_key(args, kwargs)
        found = self.cache.get(key)
        if found is not None:
            return found
        with _tuning:
            found = self.cache.get(key)
            if found is None:
                found = self._first_choice(key, args, kwargs, grid)
                self.cache[key.without_arguments()] = found
        return found

    def _first_choice(
        self, key: ArgumentKey, args: tuple[Any, ...], kwargs: Mapping[str, Any], grid: Any
    ) -> Config:
        candidates = self._candidates(args, kwargs)
        if len(candidates) == 1:
            return candidates[0]
        launch = Launch(self.fn, grid, args, kwargs, self._named(args, kwargs))
        if not self._cache_results:
            return self._tune(key, launch, candidates).config
        record = self._record(key, candidates)
        found = record.load()
        if found is not None:
            return found
        with record.locked():
            found = record.load()
            if found is None:
                outcome = self._tune(key, launch, candidates)
                record.store(outcome.config, outcome.times)
                found = outcome.config
        return found

    def _tune(self, key: ArgumentKey, launch: Launch, candidates: Sequence[Config]) -> Outcome:
        if launch.grid is None:
            raise ValueError(
                f"`{self.__name__}` was not tuned for [{key.text}] yet and never launched: give "
                "config_for the grid function as grid="
            )
        self._check_arrays("reset_to_zero", self._settings.reset_to_zero, launch.named)
        self._check_arrays("restore_value", self._settings.restore_value, launch.named)
        outcome = tune(launch, candidates, self._settings)
        self.configs_timings = outcome.times
        if read("PRINT_AUTOTUNING"):
            print(
                f"enceladus: autotuning {self.__name__} [{key.text}] chose {outcome.config!r} "
                f"({outcome.times[outcome.config]:.3f} ms)",
                file=sys.stderr,
                flush=True,
            )
        hook = self._settings.pre_hook
        if hook is not None and "reset_only" in inspect.signature(hook).parameters:
            hook({**launch.named, **outcome.config.all_kwargs()}, reset_only=True)
        return outcome

    def _check_arrays(self, option: str, names: Sequence[str], named: Mapping[str, Any]) -> None:
        for name in names:
            value = named.get(name)
            if value is not None and not is_array(value):
                raise TypeError(
                    f"{option} of `{self.__name__}` names {name!r}, which is no array but {value!r}"
                )
