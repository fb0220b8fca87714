"""The compiler's checks on a kernel that is being interpreted, once for each specialization.

The interpreter runs Python that no target compiles. What the frontend refuses is only warned about
here, since the interpreter exists to run a kernel that is not ready.
"""

import warnings
import weakref
from collections.abc import Collection, Mapping
from typing import Any

from enceladus import _core
from enceladus.errors import CompilationError
from enceladus.interpreter.arguments import kernel_arguments
from enceladus.interpreter.values import Value

_SEEN: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()


def warn_of_refusals(
    kernel: Any, arguments: Mapping[str, object], constexprs: Collection[str]
) -> None:
    """Warns, the first time a kernel meets these types and constants, of what stops a compilation.

    Args:
        kernel: the `JITFunction`.
        arguments: by parameter name.
        constexprs: names of the compile-time parameters.
    """
    specification = _specification(kernel_arguments(arguments, set(constexprs)))
    seen = _SEEN.setdefault(kernel, set())
    key = repr(specification)
    if key in seen:
        return
    seen.add(key)
    try:
        _core.frontend_ir(kernel, specification, {})
    except CompilationError as error:
        warnings.warn(f"the compiler refuses this kernel: {error}", stacklevel=4)


def _specification(arguments: Mapping[str, object]) -> list[tuple[Any, ...]]:
    """The arguments as the frontend takes them, without facts about their values."""
    result: list[tuple[Any, ...]] = []
    for name, value in arguments.items():
        if not isinstance(value, Value):
            result.append((name, "constexpr", value))
        elif value.memory is not None:
            result.append((name, "pointer", value.memory.dtype.name, False))
        else:
            result.append((name, "scalar", value.dtype.name, False, False))
    return result
