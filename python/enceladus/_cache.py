"""The disk cache of compiled kernels.

    <cache>/kernels/<kernel>-<key>/<names>.names      what variants of that key depend on
    <cache>/kernels/<kernel>-<key>/<content>.kernel   an artifact

`key` covers everything known before compiling: the kernel's text, specialization and options, this
build of the compiler, the processor. What a kernel depends on besides is known only afterwards, so
a `.names` file lists where to look (`_owners`), and `content` covers what is found there. Both are
named by what they hold, so that processes never write different things to one file; files appear
by renaming. A file that does not hold what its name says is ignored and written again.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from enceladus import _core, _environment
from enceladus._dependencies import Record, UnstableError, digest, fingerprint
from enceladus._owners import NamedRecord, name_owners, resolve

__all__ = ["CacheEntry", "Specialized", "entry_of"]

# (name, "constexpr", value), (name, "scalar", dtype, divisible_by_16, equal_to_1) or
# (name, "pointer", dtype, aligned_16).
Spec = tuple[Any, ...]

_FORMAT = "1"
_warned_folders: set[str] = set()


@dataclass(frozen=True)
class Specialized:
    """A kernel with what it is compiled for."""

    kernel: Any  # the JITFunction
    specs: Sequence[Spec]
    options: dict[str, Any]

    def constants(self) -> list[Any]:
        """One for each parameter: its constexpr value, or None."""
        return [spec[2] if spec[1] == "constexpr" else None for spec in self.specs]

    def key(self) -> str:
        """Names everything that is known before compiling.

        Raises:
            UnstableError: a constexpr value has no stable name.
        """
        kernel = self.kernel
        described = [
            "/".join([*map(str, spec[:2]), *map(describe_part, spec[2:])]) for spec in self.specs
        ]
        options = [f"{name}={value!r}" for name, value in sorted(self.options.items())]
        return digest(
            _FORMAT,
            _core.build_identity(),
            _core.host_identity(),
            sys.version,
            kernel.source,
            f"{kernel.filename}:{kernel.first_line}:{kernel.indent}:{kernel.math_mode}",
            *described,
            *options,
        )


def describe_part(part: Any) -> str:
    """A spec's value, or its dtype name or fact, as text."""
    return fingerprint(part)


def entry_of(specialized: Specialized) -> CacheEntry | None:
    """The cache's folder for it; None where its key cannot be named or disk is of no use."""
    if not _core.build_identity():
        return None
    try:
        key = specialized.key()
    except UnstableError:
        return None
    folder = os.path.join(
        _environment.cache_directory(), "kernels", f"{specialized.kernel.__name__}-{key}"
    )
    return CacheEntry(specialized, folder)


@dataclass(frozen=True)
class CacheEntry:
    """One key's folder. It may not exist; nothing here raises for what the disk does."""

    specialized: Specialized
    folder: str

    def load(self) -> tuple[_core.Artifact, list[Record]] | None:
        """The artifact whose dependencies are as they are now, with them."""
        try:
            files = os.listdir(self.folder)
        except OSError:
            return None
        for file in files:
            if not file.endswith(".names"):
                continue
            named = self._read_names(file)
            if named is None:
                continue
            kernel, constants = self.specialized.kernel, self.specialized.constants()
            records = resolve(kernel, constants, named)
            artifact = None if records is None else self._read_artifact(named, records)
            if records is not None and artifact is not None:
                return artifact, records
        return None

    def save(self, artifact: _core.Artifact, records: Sequence[Record]) -> str | None:
        """Keeps an artifact; returns the path of its file without the ending, None if not kept."""
        named = name_owners(self.specialized.kernel, self.specialized.constants(), records)
        if named is None:
            return None
        content = content_name(*named)
        if content is None:
            return None
        try:
            make_private(self.folder)
            self._write(f"{digest(names_text(named[0]))}.names", names_text(named[0]).encode())
            self._write(f"{content}.kernel", artifact.serialize())
        except OSError as error:
            warn_of_folder(error)
            return None
        return os.path.join(self.folder, content)

    def _read_names(self, file: str) -> list[NamedRecord] | None:
        data = read_file(os.path.join(self.folder, file))
        text = None if data is None else data.decode("utf-8", "replace")
        if text is None or digest(text) != file.removesuffix(".names"):
            return None
        lines = text.splitlines()
        return [(path, name) for path, _, name in (line.partition("\t") for line in lines)]

    def _read_artifact(
        self, named: list[NamedRecord], records: list[Record]
    ) -> _core.Artifact | None:
        content = content_name(named, records)
        data = None
        if content is not None:
            data = read_file(os.path.join(self.folder, f"{content}.kernel"))
        if data is None:
            return None
        try:
            return _core.Artifact.deserialize(data)
        except RuntimeError:
            return None  # damaged: compiled and written again

    def _write(self, name: str, data: bytes) -> None:
        # Nobody else writes under this name: processes and threads differ. (`tempfile` would do
        # it too, but importing it takes longer than loading a kernel.)
        temporary = os.path.join(
            self.folder, f".writing-{os.getpid()}-{threading.get_ident()}-{os.urandom(4).hex()}"
        )
        try:
            with open(temporary, "xb") as file:
                file.write(data)
            os.replace(temporary, os.path.join(self.folder, name))
        except BaseException:
            if os.path.exists(temporary):
                os.unlink(temporary)
            raise


def names_text(named: Sequence[NamedRecord]) -> str:
    """A `.names` file: a line for each record, path and name apart by a tab."""
    return "".join(f"{path}\t{name}\n" for path, name in named)


def content_name(named: Sequence[NamedRecord], records: Sequence[Record]) -> str | None:
    """The name of the artifact for the records' values; None where a value has no stable name."""
    try:
        values = [fingerprint(value) for _, _, value in records]
    except UnstableError:
        return None
    return digest(names_text(named), *values)


def read_file(path: str) -> bytes | None:
    """A file's bytes; None where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def make_private(folder: str) -> None:
    """Makes a folder and those above it that are missing, readable by the user alone."""
    if os.path.isdir(folder):
        return
    make_private(os.path.dirname(folder))
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise


def warn_of_folder(error: OSError) -> None:
    """Says once for each cache folder that compiled kernels are not kept."""
    folder = _environment.cache_directory()
    if folder in _warned_folders:
        return
    _warned_folders.add(folder)
    warnings.warn(
        f"enceladus cannot keep compiled kernels in {folder} ({error}); each process compiles "
        "them again. ENCELADUS_CACHE_DIR chooses another folder",
        RuntimeWarning,
        stacklevel=2,
    )
