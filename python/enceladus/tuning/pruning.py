"""Which of the listed configs are worth a trial: `prune_configs_by`, as in Triton."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from enceladus.tuning.config import Config

__all__ = ["Pruning"]

_FIELDS = ("perf_model", "top_k", "early_config_prune")


@dataclass(frozen=True)
class Pruning:
    """How to thin out the configs before anything is compiled.

    Attributes:
        early_config_prune: from the configs, a dict of the positional arguments by name, and the
            named ones as keywords, to the configs to keep.
        perf_model: from all arguments and the config's own as keywords, to an estimated time.
        top_k: how many with the least estimates to keep: a number, or a share as a float up to 1.
    """

    early_config_prune: Callable[..., Sequence[Config]] | None = None
    perf_model: Callable[..., float] | None = None
    top_k: int | float = 1.0

    @classmethod
    def from_dict(cls, given: Mapping[str, Any] | None) -> Pruning:
        """Reads the dict that `autotune` takes.

        Raises:
            ValueError: an unknown entry, or a `top_k` out of range.
        """
        entries = dict(given or {})
        unknown = [name for name in entries if name not in _FIELDS]
        if unknown:
            raise ValueError(
                f"prune_configs_by has no entry {unknown[0]!r}; it takes {', '.join(_FIELDS)}"
            )
        top_k = entries.get("top_k", 1.0)
        share = isinstance(top_k, float)
        if isinstance(top_k, bool) or not isinstance(top_k, (int, float)):
            raise TypeError(f"top_k is a number of configs or a share of them, not {top_k!r}")
        if top_k <= 0 or (share and top_k > 1):
            raise ValueError(f"top_k is a positive integer, or a share up to 1.0; not {top_k!r}")
        return cls(**entries)

    def apply(
        self, configs: Sequence[Config], positional: Mapping[str, Any], named: Mapping[str, Any]
    ) -> list[Config]:
        """The configs to try, at least one.

        Raises:
            ValueError: `early_config_prune` left none.
        """
        kept = list(configs)
        if self.early_config_prune is not None:
            kept = list(self.early_config_prune(kept, dict(positional), **named))
            if not kept:
                raise ValueError("early_config_prune left no config to try")
        count = self._count(len(configs))
        if self.perf_model is None or len(kept) <= count:
            return kept
        model = self.perf_model
        estimates = {
            config: model(**{**positional, **named, **config.all_kwargs()}) for config in kept
        }
        return sorted(kept, key=lambda config: estimates[config])[:count]

    def _count(self, listed: int) -> int:
        return max(1, int(listed * self.top_k)) if isinstance(self.top_k, float) else self.top_k
