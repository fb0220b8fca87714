"""What a machine can do at best, for the roofline of `kernel.explain`: measured, once.

The first `explain` on a machine measures for a fifth of a second; the figures then live in the
cache directory, under the names of the processor and of this build.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import enceladus.language as tl
from enceladus import _core, _environment

__all__ = ["Ceilings", "ceilings_of"]

_COPIED = 1 << 24  # elements of the copy: 64 MiB each way, past the caches
_BLOCK = 4096  # of them, a program


@dataclass(frozen=True)
class Ceilings:
    """The two ceilings of a roofline, with every thread at work.

    Attributes:
        bytes_per_second: of a copy between large arrays, read plus written.
        operations_per_second: of float32 multiply-adds in registers, each counted as two.
    """

    bytes_per_second: float
    operations_per_second: float


_known: dict[str, Ceilings] = {}
_guard = threading.Lock()


def ceilings_of(target: str) -> Ceilings | None:
    """The ceilings of the machine behind a target; None where nothing measures them.

    Args:
        target: an artifact's target, such as `"cpu"`.
    """
    if target != "cpu" or not _core.host_identity():
        return None
    with _guard:
        if target not in _known:
            _known[target] = _load() or _measure_and_keep()
        return _known[target]


def _path() -> Path:
    identity = f"{_core.host_identity()}\n{_core.build_identity()}\n{_core.thread_count()}"
    name = blake2b(identity.encode(), digest_size=16).hexdigest()
    return Path(_environment.cache_directory()) / f"ceilings-{name}.json"


def _load() -> Ceilings | None:
    """What an earlier process found; None where the file is missing or damaged."""
    if _environment.read("ALWAYS_COMPILE"):
        return None
    try:
        found = Ceilings(**json.loads(_path().read_text(encoding="utf-8")))
        usable = found.bytes_per_second > 0 and found.operations_per_second > 0
    except (OSError, ValueError, TypeError):
        return None
    return found if usable else None


def _measure_and_keep() -> Ceilings:
    found = Ceilings(_copy_bandwidth(), _core.multiply_add_rate())
    path = _path()
    try:
        os.makedirs(path.parent, mode=0o700, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
        with open(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(found), file)
        os.replace(temporary, path)
    except OSError:
        pass  # a cache that cannot be written is measured again by the next process
    return found


def _copy_bandwidth() -> float:
    import enceladus
    from enceladus.testing import do_bench

    kernel = enceladus.jit(_copy_kernel)
    with enceladus.device("cpu"):
        source, target = enceladus.ones(_COPIED), enceladus.empty(_COPIED)
        grid = (_COPIED // _BLOCK,)
        launch = kernel[grid]
        best = do_bench(lambda: launch(source, target), warmup=5, rep=60, return_mode="min")
    return 2 * source.nbytes / (float(best) * 1e-3)


def _copy_kernel(source_ptr: Any, target_ptr: Any) -> None:
    offsets = tl.program_id(0) * _BLOCK + tl.arange(0, _BLOCK)
    tl.store(target_ptr + offsets, tl.load(source_ptr + offsets))
