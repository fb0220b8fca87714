"""`enceladus.autotune` and `enceladus.heuristics`: decorators that choose constexprs at a launch.

The objects they make stand above a kernel; the kernel below does everything else. How a choice is
made is in `enceladus.tuning`, imported when a kernel is first decorated, so that programs which
tune nothing start sooner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from enceladus.tuning.config import Config

if TYPE_CHECKING:
    from enceladus.tuning.autotuner import Autotuner
    from enceladus.tuning.heuristics import Heuristics

__all__ = ["Config", "autotune", "heuristics"]


def _names(option: str, given: Sequence[str] | None) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TypeError(f"{option} takes a list of names, not the string {given!r}")
    return tuple(given or ())


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

    Raises:
        ValueError: no config, or a name that is no argument (or, in a config, no constexpr) of
            the kernel.

    Example:
        >>> @enceladus.autotune([enceladus.Config({"BLOCK": n}) for n in (1024, 4096)], key=["n"])
        ... @enceladus.jit
        ... def scale(x_ptr, n, BLOCK: tl.constexpr): ...
        >>> scale[lambda meta: (enceladus.cdiv(n, meta["BLOCK"]),)](x, n)
    """
    from enceladus.tuning.autotuner import Autotuner
    from enceladus.tuning.pruning import Pruning
    from enceladus.tuning.session import Settings

    settings = Settings(
        reset_to_zero=_names("reset_to_zero", reset_to_zero),
        restore_value=_names("restore_value", restore_value),
        pre_hook=pre_hook,
        post_hook=post_hook,
        warmup=Settings.warmup if warmup is None else warmup,
        rep=Settings.rep if rep is None else rep,
        tolerance=tolerance,
        check_candidates=check_candidates,
    )
    pruning = Pruning.from_dict(prune_configs_by)
    names = _names("key", key)
    return lambda fn: Autotuner(fn, configs, names, pruning, settings, cache_results)


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
