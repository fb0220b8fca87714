"""`enceladus.autotune` and `enceladus.heuristics`: decorators that choose constexprs at a launch.

The objects they make stand above a kernel; the kernel below does everything else. How a choice is
made is in `enceladus.tuning`, imported when a kernel is first decorated, so that programs which
tune nothing start sooner.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from enceladus._suggestions import refuse_unknown
from enceladus.tuning.config import Config

if TYPE_CHECKING:
    from enceladus.tuning.autotuner import Autotuner
    from enceladus.tuning.heuristics import Heuristics

__all__ = ["Config", "autotune", "heuristics"]


def _names(option: str, given: Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    names = None if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if names is None or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{option} takes a list of argument names, not {given!r}")
    return names


def _number(option: str, given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise TypeError(f"{option} takes a number, not {given!r}")
    if not 0 <= given < math.inf:
        raise ValueError(f"{option} takes a finite number of at least 0, not {given!r}")
    return given


def _hook(option: str, given: object) -> Any:
    if given is not None and not callable(given):
        raise TypeError(f"{option} takes a function, not {given!r}")
    return given


def _configs(given: object) -> list[Config]:
    if isinstance(given, Config) or not isinstance(given, Iterable):
        raise TypeError(f"configs takes a list of enceladus.Config, not {given!r}")
    return list(given)


def autotune(
    configs: Sequence[Config],
    key: Sequence[str],
    prune_configs_by: Mapping[str, Any] | None = None,
    reset_to_zero: Sequence[str] | None = None,
    restore_value: Sequence[str] | None = None,
    pre_hook: Callable[..., Any] | None = None,
    post_hook: Callable[..., Any] | None = None,
    warmup: float | None = None,
    rep: float | None = None,
    tolerance: float = 0.01,
    cache_results: bool = True,
    check_candidates: bool = False,
    **unknown: Any,
) -> Callable[[Any], Autotuner]:
    """Launches a kernel with the fastest of several configs; stands above `@enceladus.jit`.

    The first launch with new values of `key`, or new argument dtypes, compiles every candidate in
    parallel and times it on the arguments themselves; what the trials stored is undone before the
    real launch. The grid of a launch is a function of a dict of every argument by name.

    Args:
        configs: the candidates; the first is the one that the interpreter uses.
        key: arguments whose values decide which config is best.
        prune_configs_by: `early_config_prune`, `perf_model` and `top_k`, as in Triton.
        reset_to_zero: arrays to fill with zeros before every trial.
        restore_value: arrays to restore before every trial. Those that the kernel both reads and
            writes are restored without being listed.
        pre_hook: called with a dict of every argument by name before every trial, and with
            `reset_only=True` too, where it takes that, once after tuning.
        post_hook: called with that dict and `exception=` (None, or the error) after every trial.
        warmup: milliseconds for which each candidate runs before it is timed; by default 10.
        rep: milliseconds for which each candidate is timed; by default 40.
        tolerance: of the candidates within this share of the fastest, the first listed wins.
        cache_results: whether results are kept on disk for other processes.
        check_candidates: whether to compare what the candidates store, and warn of differences.
        **unknown: refused with the name of the closest option.

    Raises:
        ValueError: no config, or a name that is no argument (or, in a config, no constexpr) of
            the kernel, or a number out of range.
        TypeError: an option of another type, or one that does not exist.

    Example:
        >>> @enceladus.autotune([enceladus.Config({"BLOCK": n}) for n in (1024, 4096)], key=["n"])
        ... @enceladus.jit
        ... def scale(x_ptr, n, BLOCK: tl.constexpr): ...
        >>> scale[lambda meta: (enceladus.cdiv(n, meta["BLOCK"]),)](x, n)
    """
    from enceladus.tuning.autotuner import Autotuner
    from enceladus.tuning.pruning import Pruning
    from enceladus.tuning.session import Settings

    refuse_unknown(autotune, unknown)
    settings = Settings(
        reset_to_zero=_names("reset_to_zero", reset_to_zero),
        restore_value=_names("restore_value", restore_value),
        pre_hook=_hook("pre_hook", pre_hook),
        post_hook=_hook("post_hook", post_hook),
        warmup=Settings.warmup if warmup is None else _number("warmup", warmup),
        rep=Settings.rep if rep is None else _number("rep", rep),
        tolerance=_number("tolerance", tolerance),
        check_candidates=check_candidates,
    )
    pruning = Pruning.from_dict(prune_configs_by)
    listed, names = _configs(configs), _names("key", key)
    return lambda fn: Autotuner(fn, listed, names, pruning, settings, cache_results)


def heuristics(
    values: Mapping[str, Callable[[dict[str, Any]], Any]],
) -> Callable[[Any], Heuristics]:
    """Computes constexprs of a kernel from the other arguments at each launch.

    Args:
        values: for each constexpr, a function of a dict of the arguments given so far by name.

    Raises:
        ValueError: a name that is no argument of the kernel.

    Example:
        >>> @enceladus.heuristics({"BLOCK": lambda args: enceladus.next_power_of_2(args["n"])})
        ... @enceladus.jit
        ... def softmax(x_ptr, y_ptr, n, BLOCK: tl.constexpr): ...
    """
    from enceladus.tuning.heuristics import Heuristics

    return lambda fn: Heuristics(fn, values)
