"""The file that remembers the outcome of one tuning, and the lock that makes processes tune once.

JSON under `~/.cache/enceladus/autotune/`, written to a temporary and renamed. A file that is
damaged, of another version or for other candidates counts as absent and is written anew. Where the
folder cannot be used, tuning goes on without it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from enceladus._environment import cache_directory, read
from enceladus.tuning.config import Config

try:
    import fcntl
except ImportError:  # no such locks on this system: processes may tune one key twice
    fcntl = None  # type: ignore[assignment]

__all__ = ["TuningRecord"]

_VERSION = 1
_PRIVATE = 0o700
_logger = logging.getLogger("enceladus")


class TuningRecord:
    """The record of one key.

    Args:
        kernel: the kernel's name, for the file's name.
        identity: everything that the choice depends on, as texts.
        configs: the candidates, in order.
    """

    def __init__(self, kernel: str, identity: Sequence[str], configs: Sequence[Config]) -> None:
        self._identity = list(identity)
        self._configs = list(configs)
        listed = json.dumps([_VERSION, self._identity, [repr(config) for config in configs]])
        digest = hashlib.sha256(listed.encode()).hexdigest()
        safe = re.sub(r"\W", "_", kernel, flags=re.ASCII)[:64]
        self._folder = Path(cache_directory()) / "autotune"
        self.path = self._folder / f"{safe}-{digest[:32]}.json"
        self._digest = digest

    def load(self) -> Config | None:
        """The remembered choice; None without one, or with ENCELADUS_ALWAYS_COMPILE=1."""
        if read("ALWAYS_COMPILE"):
            return None
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            index = found["index"]
            if found["version"] != _VERSION or found["digest"] != self._digest or index < 0:
                return None
            config = self._configs[index]
            return config if repr(config) == found["config"] else None
        except (OSError, ValueError, KeyError, IndexError, TypeError):
            return None

    def store(self, config: Config, times: Mapping[Config, float]) -> None:
        """Remembers the choice, with the milliseconds of every candidate that ran."""
        content: dict[str, Any] = {
            "version": _VERSION,
            "digest": self._digest,
            "identity": self._identity,
            "index": self._configs.index(config),
            "config": repr(config),
            "milliseconds": {repr(candidate): time for candidate, time in times.items()},
        }
        try:
            self._make_folder()
            handle, temporary = tempfile.mkstemp(dir=self._folder, prefix=".writing-")
            try:
                with open(handle, "w", encoding="utf-8") as file:
                    json.dump(content, file, indent=1)
                os.replace(temporary, self.path)
            except BaseException:
                os.unlink(temporary)
                raise
        except OSError as error:
            _logger.warning("autotuning results are not kept: %s", error)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other processes from tuning this key meanwhile."""
        handle = self._open_lock()
        try:
            yield
        finally:
            if handle is not None:
                os.close(handle)  # releases the lock

    def _open_lock(self) -> int | None:
        if fcntl is None:
            return None
        handle = None
        try:
            self._make_folder()
            handle = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            _logger.info("autotuning without a lock: %s", error)
        except BaseException:
            if handle is not None:
                os.close(handle)
            raise
        return handle

    def _make_folder(self) -> None:
        for folder in (self._folder.parent, self._folder):
            folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
