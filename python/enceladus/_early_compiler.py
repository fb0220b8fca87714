"""Whether a process that begins to use CUDA will soon compile for it, told before its first launch.

Where it will, the device's start makes NVRTC ready on another processor (`early_compiler.h`); where
every kernel is on disk, that would be work for nothing. What a launch needs is known only when it
comes, so this looks at the cache as a whole: a marker there is as old as the last time that a
kernel was found or kept. A wrong answer costs time, nothing else.
"""

from __future__ import annotations

import os

from enceladus import _core, _environment
from enceladus._cache import make_private

__all__ = ["is_likely", "note_hand_written", "note_kernel", "note_source"]

_sources: set[str] = set()
_has_hand_written = False
_is_due = False  # the marker is missing, or older than a source


def note_source(path: str) -> None:
    """Says that the process has a kernel from that file."""
    _sources.add(path)


def note_hand_written() -> None:
    """Says that the process has a kernel that no cache keeps."""
    global _has_hand_written
    _has_hand_written = True


def is_likely() -> bool:
    """Whether a CUDA kernel of this process must probably be compiled.

    So it is where this build of the compiler has kept none in the cache, where the file of a kernel
    was changed since it did, and where the cache is not used.
    """
    global _is_due
    _is_due = _is_older_than_sources(_marker())
    overridden = _environment.read("OVERRIDE_DIR") is not None
    return _is_due or overridden or _has_hand_written or bool(_environment.read("ALWAYS_COMPILE"))


def note_kernel(*, is_new: bool) -> None:
    """Says that a CUDA kernel was compiled, or found on disk."""
    global _is_due
    if not (is_new or _is_due) or not _core.build_identity():
        return
    _is_due = False
    path = _marker()
    try:
        make_private(os.path.dirname(path))
        with open(path, "ab"):
            os.utime(path)
    except OSError:
        return  # the next process expects too much


def _marker() -> str:
    return os.path.join(_environment.cache_directory(), "cuda", _core.build_identity() or "none")


def _is_older_than_sources(path: str) -> bool:
    try:
        time = os.stat(path).st_mtime_ns
    except OSError:
        return True
    return any(_changed_at(source) > time for source in _sources)


def _changed_at(path: str) -> int:
    """In nanoseconds; 0 for what is no file, as a notebook's cell."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
