"""Messages about names that nobody knows: the closest known one, or all."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["refuse_unknown", "suggestion"]


def suggestion(name: str, known: Sequence[str]) -> str:
    """The end of a message about an unknown name."""
    close = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {close[0]!r}?" if close else f" (it has {', '.join(known)})"


def refuse_unknown(function: Callable[..., Any], unknown: Mapping[str, object]) -> None:
    """Raises where a function got keywords that it does not have.

    Args:
        function: has every parameter of its own by name, and `**unknown`.
        unknown: what it got there.

    Raises:
        TypeError: names the first unknown keyword and the closest one that exists.
    """
    if not unknown:
        return
    parameters = inspect.signature(function).parameters.values()
    known = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD and p.name != "self"]
    name = next(iter(unknown))
    title = function.__qualname__.removesuffix(".__init__")
    raise TypeError(f"enceladus.{title} has no option {name!r}{suggestion(name, known)}")
