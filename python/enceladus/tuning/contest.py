"""Which candidate wins: timing in two phases, medians, a tolerance. Knows numbers only."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

__all__ = ["FINALISTS", "ROUNDS", "finalists", "run_final", "winner"]

FINALISTS = 3
ROUNDS = 4
_WITHIN = 1.15

Candidate = TypeVar("Candidate", bound=Hashable)


def finalists(times: Mapping[Candidate, float]) -> list[Candidate]:
    """The fastest three at most, of those within 15 % of the fastest, fastest first."""
    ranked = sorted(times, key=lambda candidate: times[candidate])
    limit = times[ranked[0]] * _WITHIN
    return [candidate for candidate in ranked[:FINALISTS] if times[candidate] <= limit]


def run_final(
    candidates: Sequence[Candidate], measure: Callable[[Candidate], float]
) -> dict[Candidate, float]:
    """The median over four rounds, each of which measures every candidate once.

    Rounds interleave the candidates, and every second one runs backwards, so that a machine that
    warms up or slows down treats them alike.
    """
    times: dict[Candidate, list[float]] = {candidate: [] for candidate in candidates}
    for index in range(ROUNDS):
        for candidate in candidates if index % 2 == 0 else reversed(candidates):
            times[candidate].append(measure(candidate))
    return {candidate: statistics.median(found) for candidate, found in times.items()}


def winner(
    times: Mapping[Candidate, float], listed: Sequence[Candidate], tolerance: float
) -> Candidate:
    """The first of `listed` that is within `tolerance` (0.01 is 1 %) of the fastest."""
    limit = min(times.values()) * (1 + tolerance)
    return next(
        candidate for candidate in listed if candidate in times and times[candidate] <= limit
    )
