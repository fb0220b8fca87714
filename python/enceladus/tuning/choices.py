"""The configs that an autotuner has chosen, as a dict that tells when it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping

from enceladus.tuning.arguments import ArgumentKey
from enceladus.tuning.config import Config

__all__ = ["Choices"]


class Choices(MutableMapping[ArgumentKey, Config]):
    """Key -> config. What is taken out or replaced is chosen anew by the next launch.

    Args:
        changed: called after a config was taken out or replaced.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._configs: dict[ArgumentKey, Config] = {}
        self._changed = changed

    def __getitem__(self, key: ArgumentKey) -> Config:
        return self._configs[key]

    def __setitem__(self, key: ArgumentKey, config: Config) -> None:
        replaces = self._configs.get(key, config) != config
        self._configs[key] = config
        if replaces:
            self._changed()

    def __delitem__(self, key: ArgumentKey) -> None:
        del self._configs[key]
        self._changed()

    def __iter__(self) -> Iterator[ArgumentKey]:
        return iter(self._configs)

    def __len__(self) -> int:
        return len(self._configs)

    def __repr__(self) -> str:
        return repr(self._configs)
