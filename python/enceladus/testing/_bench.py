"""`do_bench`: how long a function's launches take on the device."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from enceladus._core import forbid_waiting
from enceladus._timing import Work, sample

__all__ = ["do_bench"]

_MODES: dict[str, Callable[[list[float]], Any]] = {
    "min": min,
    "max": max,
    "mean": statistics.fmean,
    "median": statistics.median,
    "all": list,
}


@contextlib.contextmanager
def _waiting_forbidden() -> Iterator[None]:
    """While active, a launch of this thread that would wait for its result raises instead."""
    before = forbid_waiting(True)
    try:
        yield
    finally:
        forbid_waiting(before)


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Iterable[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "median",
) -> Any:
    """Times `fn` on the device, with cold caches.

    Between repeats the caches are evicted, outside the timed span. `fn` must launch on
    `enceladus.Tensor` or same-device PyTorch arguments: a launch on host arrays waits for its
    result, so it cannot be timed and raises.

    Args:
        fn: a function without arguments that launches the work.
        warmup: milliseconds of repeats before the timed ones.
        rep: milliseconds of timed repeats; at least one is run.
        grad_to_none: PyTorch tensors whose `.grad` is set to None before each repeat.
        quantiles: where given, these quantiles are returned in place of `return_mode`.
        return_mode: `"min"`, `"max"`, `"mean"`, `"median"` or `"all"`.

    Returns:
        Milliseconds: one number, a list of every repeat for `"all"`, or a list in the order of
        `quantiles` (one number where one was asked for).

    Raises:
        EnceladusError: a launch inside `fn` synchronizes; the message names its argument.
        ValueError: an unknown `return_mode`, or a quantile outside 0 to 1.

    Example:
        >>> x = enceladus.randn((1 << 20,))
        >>> ms = enceladus.testing.do_bench(lambda: scale[(256,)](x, BLOCK=4096))
    """
    if return_mode not in _MODES:
        known = ", ".join(_MODES)
        raise ValueError(f"return_mode={return_mode!r} is unknown; the modes are {known}")
    if quantiles is not None and not all(0 <= quantile <= 1 for quantile in quantiles):
        raise ValueError(f"quantiles lie between 0 and 1; got {list(quantiles)}")
    leaves = list(grad_to_none or ())

    def clear_gradients() -> None:
        for leaf in leaves:
            leaf.grad = None

    with _waiting_forbidden():
        times = sample(Work(fn, clear_gradients), warmup, rep)
    if quantiles is None:
        return _MODES[return_mode](times)
    found = [float(value) for value in np.quantile(times, list(quantiles))]
    return found[0] if len(found) == 1 else found
