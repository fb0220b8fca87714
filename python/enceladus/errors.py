"""What Enceladus raises.

Three kinds, never mixed: the user's program (`CompilationError`, with places), the device or the
environment (the `...Error` of each), and mistakes of Enceladus itself (`InternalError`, which asks
for a report). Wrong arguments of a call are Python's own `TypeError` and `ValueError`.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "CompilationError",
    "CudaError",
    "DeviceAssertionError",
    "Diagnostic",
    "EnceladusError",
    "InternalError",
    "MetalError",
    "OutOfBoundsError",
]


class EnceladusError(Exception):
    """The base of every error that is Enceladus' own."""


@dataclass(frozen=True)
class Diagnostic:
    """One located sentence about the user's program.

    Attributes:
        name: the record's name in `diagnostics.def`, stable across versions.
        message: the sentence, without its place.
        hint: what to do about it; may be empty.
        file: the Python file, or empty where the place is unknown.
        line: counts from 1; 0 where unknown.
        column: counts from 1; 0 where unknown.
        text: the whole message with place, source line, caret, notes and hint.
    """

    name: str
    message: str
    hint: str
    file: str
    line: int
    column: int
    text: str


class CompilationError(EnceladusError):
    """The kernel cannot be compiled as it is written.

    `str()` shows `file:line:column: error: sentence` with the source line and a caret.

    Attributes:
        diagnostics: every `Diagnostic`, in the order in which they were found.
    """

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics

    @classmethod
    def from_records(
        cls, records: list[tuple[str, str, str, str, int, int, str]]
    ) -> CompilationError:
        """Builds the error from the compiler's records, each in the order of `Diagnostic`."""
        diagnostics = tuple(Diagnostic(*record) for record in records)
        return cls("\n".join(diagnostic.text for diagnostic in diagnostics), diagnostics)


class DeviceAssertionError(EnceladusError):
    """A `tl.device_assert` failed; raised at the next synchronization."""


class MetalError(EnceladusError):
    """A call of the Metal framework failed, or a command buffer ended in an error."""


class CudaError(EnceladusError):
    """A call of the CUDA driver or of NVRTC failed."""


class OutOfBoundsError(EnceladusError, IndexError):
    """A kernel touched memory outside its arrays (`ENCELADUS_DEBUG=1` and the interpreter)."""


class InternalError(EnceladusError):
    """A mistake of Enceladus itself. The process stays usable; please report it."""
