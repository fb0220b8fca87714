"""Launches on PyTorch's own Metal stream, by `torch.mps.compile_shader`.

PyTorch's queue and ours are not ordered, so a launch on tensors of its device `mps` is handed to
PyTorch with the kernel's Metal text. Where it cannot be, the launch runs on our queue, PyTorch's is
waited for before it and ours behind it, and a warning is logged once that says why.

What is relied on: `compile_shader(text)` gives an object whose attributes are the text's kernels;
one is called with what is bound to buffer 0, 1, ... (tensors; tuples of ints as arrays of int64),
`threads` (of the whole grid) and `group_size` (of one threadgroup), and queues the launch.
Nobody has run this on Apple hardware yet; the tests use a stand-in that does what is said here.
"""

from __future__ import annotations

import logging
import struct
import sys
from typing import Any

from enceladus import _core

__all__ = ["MpsKernel", "prepare", "synchronize"]

_log = logging.getLogger("enceladus")
_WORD = 8  # of the integers that PyTorch binds


class MpsKernel:
    """One compiled kernel as PyTorch launches it.

    Attributes:
        name: the kernel's, for messages.
    """

    def __init__(self, artifact: _core.Artifact) -> None:
        self.name = artifact.kernel
        self._entry = artifact.entry
        self._source = artifact.stages["msl"]
        self._function: Any = None
        self._obstacle = obstacle_of(artifact)
        self._warned = False

    def launch(
        self, values: list[Any], grid: tuple[int, int, int], threads: tuple[int, int, int]
    ) -> bool:
        """Queues a launch on PyTorch's stream.

        Args:
            values: what is bound to each buffer index: an array, a block of scalars as bytes, or
                None for an index that the kernel has not.
            grid: programs.
            threads: of a program.

        Returns:
            False where PyTorch cannot do it; that was logged, and nothing is queued.
        """
        reason = self._obstacle or obstacle_among(values) or self._compile()
        if reason is None:
            reason = self._call(values, grid, threads)
        if reason is not None and not self._warned:
            self._warned = True
            _log.warning(
                "kernel `%s` does not run on PyTorch's mps stream, but waits for it and for its "
                "own result: %s",
                self.name,
                reason,
            )
        return reason is None

    def _compile(self) -> str | None:
        """Has PyTorch compile the text at the first launch; gives why it does not."""
        if self._function is not None:
            return None
        compile_shader = getattr(_torch().mps, "compile_shader", None)
        if compile_shader is None:
            self._obstacle = "this PyTorch has no torch.mps.compile_shader (2.6 and later have)"
            return self._obstacle
        try:
            self._function = getattr(compile_shader(self._source), self._entry)
        except (RuntimeError, SyntaxError, AttributeError) as error:
            self._obstacle = f"PyTorch does not compile its text: {first_line(error)}"
        return self._obstacle

    def _call(
        self, values: list[Any], grid: tuple[int, int, int], threads: tuple[int, int, int]
    ) -> str | None:
        bound = [integers(value) if isinstance(value, bytes) else value for value in values]
        total = tuple(programs * each for programs, each in zip(grid, threads, strict=True))
        try:
            self._function(*bound, threads=total, group_size=threads)
        except (RuntimeError, TypeError) as error:
            # Raised while arguments are bound, before anything is queued.
            return f"PyTorch does not take its arguments: {first_line(error)}"
        return None


def prepare(artifact: _core.Artifact) -> MpsKernel:
    """The kernel as PyTorch launches it; compiled at its first launch."""
    return MpsKernel(artifact)


def synchronize() -> None:
    """Waits for everything that PyTorch has queued on mps."""
    _torch().mps.synchronize()


def obstacle_of(artifact: _core.Artifact) -> str | None:
    """Why no launch of a kernel can go to a framework's stream; None where it can."""
    if artifact.logs:
        return "it prints, which needs a queue that logs"
    if artifact.messages:
        return "it has assertions, which are looked at behind the launch"
    return None


def obstacle_among(values: list[Any]) -> str | None:
    """Why PyTorch cannot bind the values; None where it can."""
    for index, value in enumerate(values):
        if isinstance(value, bytes):
            continue
        if value is None:
            return f"it has no buffer {index}, but one above it"
        device = getattr(value, "device", None)
        if not isinstance(value, _torch().Tensor) or getattr(device, "type", "") != "mps":
            kind = f"{type(value).__module__}.{type(value).__qualname__}"
            return f"buffer {index} is a {kind} on {device or 'the host'}, not a tensor on mps"
    return None


def integers(block: bytes) -> tuple[int, ...]:
    """A block of scalars as the integers that have its bytes, with zeros behind."""
    count = -(-len(block) // _WORD)
    return struct.unpack(f"<{count}q", block.ljust(_WORD * count, b"\0"))


def first_line(error: Exception) -> str:
    """The beginning of what an error says."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _torch() -> Any:
    return sys.modules["torch"]
