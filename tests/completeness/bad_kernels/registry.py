"""Kernels that the compiler must refuse, each with the diagnostic it gives and where.

The offending line of a kernel ends in the comment `# here`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import enceladus


@dataclass(frozen=True)
class Bad:
    """A kernel and the diagnostic that it gives.

    Attributes:
        diagnostic: the record's name in diagnostics.def.
        kernel: takes (x_ptr: float32, i_ptr: int32, n: int32).
        words: what the message has to say.
    """

    diagnostic: str
    kernel: Any
    words: str


BAD: list[Bad] = []


def bad(diagnostic: str, words: str = "") -> Callable[[Any], Any]:
    """Registers a kernel under the name of its diagnostic; `words` must be in the message."""

    def register(function: Any) -> Any:
        kernel = enceladus.jit(function)
        BAD.append(Bad(diagnostic, kernel, words))
        return kernel

    return register
