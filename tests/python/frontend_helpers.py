"""Compiles kernels to tile IR text without launching anything."""

from __future__ import annotations

import linecache
import textwrap
from typing import Any

import pytest

import enceladus
import enceladus.language as tl
from enceladus import _core


def specs(kernel: enceladus.JITFunction, **arguments: Any) -> list[tuple[Any, ...]]:
    """Kinds: "*float32" a pointer, "int32" (the default) a scalar, other values constexpr."""
    result: list[tuple[Any, ...]] = []
    for parameter in kernel.parameters:
        value = arguments.get(parameter.name, "int32")
        if isinstance(value, str) and value.startswith("*"):
            result.append((parameter.name, "pointer", value[1:], True))
        elif isinstance(value, str) and hasattr(tl, value):
            result.append((parameter.name, "scalar", value, False, False))
        else:
            result.append((parameter.name, "constexpr", value))
    return result


def ir_of(
    kernel: enceladus.JITFunction, options: dict[str, Any] | None = None, **kinds: Any
) -> str:
    """The kernel's tile IR before any pass."""
    text, _ = _core.frontend_ir(kernel, specs(kernel, **kinds), options or {})
    return str(text)


def dependencies_of(kernel: enceladus.JITFunction, **kinds: Any) -> dict[str, Any]:
    """What the kernel read from outside, by name."""
    _, dependencies = _core.frontend_ir(kernel, specs(kernel, **kinds), {})
    return {name: value for _, name, value in dependencies}


_counter = [0]


def kernel_of(source: str, **names: Any) -> enceladus.JITFunction:
    """The last function of a source text, decorated with `enceladus.jit` unless it is already."""
    _counter[0] += 1
    filename = f"<kernel {_counter[0]}>"
    text = textwrap.dedent(source).strip("\n") + "\n"
    lines = text.splitlines(keepends=True)
    linecache.cache[filename] = (len(text), None, lines, filename)
    namespace: dict[str, Any] = {"enceladus": enceladus, "tl": tl, **names}
    exec(compile(text, filename, "exec"), namespace)
    found = [value for name, value in namespace.items() if getattr(value, "__name__", "") == name]
    last = found[-1]
    return last if isinstance(last, enceladus.JITFunction) else enceladus.jit(last)


def error_of(source: str, names: dict[str, Any] | None = None, **kinds: Any) -> Any:
    """The one diagnostic with which a kernel fails to compile."""
    kernel = kernel_of(source, **(names or {}))
    with pytest.raises(enceladus.CompilationError) as caught:
        ir_of(kernel, **kinds)
    return caught.value.diagnostics[0]
