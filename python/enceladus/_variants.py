"""The compiled variants of one kernel: found in memory, on disk, or compiled.

Called by the launch path (C++) when its table has no variant for a specialization, or when what
that variant was compiled from has changed.
"""

from __future__ import annotations

import os
import sys
import threading
import types
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from enceladus import _core, _early_compiler, _environment
from enceladus._cache import CacheEntry, Spec, Specialized, entry_of
from enceladus._dependencies import Record, expand, function_records
from enceladus.compiled import CompiledKernel
from enceladus.errors import CompilationError

__all__ = ["Variants"]

_MOST_UNREMARKED = 16


class Variants:
    """Every variant that this process has of a kernel, by specialization.

    One specialization has several where globals that the kernel reads changed back and forth.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._known: dict[bytes, list[CompiledKernel]] = {}
        self._guard = threading.Lock()
        self._busy: dict[bytes, tuple[threading.Lock, int]] = {}
        self._launched: list[Sequence[Spec]] = []

    def find(
        self, key: bytes, specs: Sequence[Spec], options: dict[str, Any], launching: bool
    ) -> CompiledKernel:
        """The variant whose dependencies are as they are now.

        Args:
            key: names specialization and options within this process.
            specs: what the compiler takes, see `_cache.Spec`.
            options: launch options and switches, by name.
            launching: False for a warmup, which does not count towards the warning about many
                compilations.
        """
        with self._only_one(key):
            known = self._known.setdefault(key, [])
            for compiled in known:
                if compiled.is_current():
                    return compiled
            compiled = self._load_or_compile(Specialized(self._kernel, specs, options))
            known.append(compiled)
        if launching:
            self._remark(specs)
        return compiled

    @contextmanager
    def _only_one(self, key: bytes) -> Iterator[None]:
        """One thread at a time compiles a specialization; the others then find it."""
        with self._guard:
            lock, users = self._busy.get(key, (threading.Lock(), 0))
            self._busy[key] = (lock, users + 1)
        try:
            with lock:
                yield
        finally:
            with self._guard:
                users = self._busy[key][1] - 1
                self._busy[key] = (lock, users)
                if users == 0:
                    del self._busy[key]

    def _load_or_compile(self, specialized: Specialized) -> CompiledKernel:
        _environment.check_all()
        override = override_text(self._kernel.__name__, specialized.options["device"])
        entry = entry_of(specialized) if override is None else None
        loaded = None
        timings: dict[str, float] = {}
        if entry is not None and not _environment.read("ALWAYS_COMPILE"):
            loaded = entry.load()
        if loaded is None:
            artifact, records, timings = compile_now(specialized, override)
            path = None if entry is None else entry.save(artifact, records)
        else:
            artifact, records = loaded
            path = None
        if artifact.target == "cuda":
            _early_compiler.note_kernel(is_new=loaded is None)
        for sentence in artifact.warnings:
            warnings.warn(sentence, RuntimeWarning, stacklevel=4)
        compiled = CompiledKernel(artifact, records, timings)
        if _environment.read("DUMP"):
            dump(compiled, entry, path)
        return compiled

    def _remark(self, specs: Sequence[Spec]) -> None:
        """Warns once, when the kernel has been compiled for many launches."""
        self._launched.append(specs)
        if len(self._launched) != _MOST_UNREMARKED + 1:
            return
        name, count = most_changed(self._launched)
        warnings.warn(
            f"kernel `{self._kernel.__name__}` was compiled {len(self._launched)} times; argument "
            f"`{name}` changed most, with {count} different values or types. Pass what varies as "
            "a run-time argument, or list it in jit(do_not_specialize=[...])",
            RuntimeWarning,
            stacklevel=3,
        )


def compile_now(
    specialized: Specialized, override: str | None
) -> tuple[_core.Artifact, list[Record], dict[str, float]]:
    """Runs the compiler; returns the artifact, all that it depends on, and each stage's time."""
    kernel = specialized.kernel
    options = {
        **specialized.options,
        "math_mode": kernel.math_mode,
        "verify": _environment.read("VERIFY"),
        "override": override,
    }
    try:
        artifact, reported, times = _core.compile(kernel, list(specialized.specs), options)
    except RuntimeError as error:
        if override is None:
            raise
        raise CompilationError(f"the override of `{kernel.__name__}`: {error}") from None
    records = list(reported)
    for constant in specialized.constants():
        if isinstance(constant, types.FunctionType):
            records.extend(function_records(constant))
    return artifact, expand(records), dict(times)


def override_text(kernel: str, device: str) -> str | None:
    """The text in ENCELADUS_OVERRIDE_DIR that replaces what the compiler emits; None if none."""
    folder = _environment.read("OVERRIDE_DIR")
    if folder is None:
        return None
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"ENCELADUS_OVERRIDE_DIR={folder!r}: there is no such folder")
    suffixes = {"cpu": ".ll", "cuda": ".cu"}
    suffix = suffixes.get(device.partition(":")[0], ".metal")
    path = os.path.join(folder, kernel + suffix)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def dump(compiled: CompiledKernel, entry: CacheEntry | None, path: str | None) -> None:
    """Writes every stage beside the cached artifact and prints where."""
    if path is None:
        folder = os.path.join(_environment.cache_directory(), "dump")
        path = os.path.join(folder if entry is None else entry.folder, compiled.name)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        for stage, text in compiled.asm.items():
            with open(f"{path}.{stage}", "w", encoding="utf-8") as file:
                file.write(text)
            print(f"enceladus: {compiled.name} {stage}: {path}.{stage}", file=sys.stderr)
    except OSError as error:
        print(f"enceladus: cannot dump {compiled.name}: {error}", file=sys.stderr)


def most_changed(launched: Sequence[Sequence[Spec]]) -> tuple[str, int]:
    """The argument with the most different specs, and how many it had."""
    different: dict[str, set[str]] = defaultdict(set)
    for specs in launched:
        for spec in specs:
            different[spec[0]].add(repr(spec[1:]))
    name = max(different, key=lambda parameter: len(different[parameter]))
    return name, len(different[name])
