"""What a compiled kernel depends on, besides its own text and arguments.

The compiler reports every global, module attribute and closure cell that it read as a *record*
`(owner, name, value)`; `expand` adds what plain Python helpers called at compile time read. A
launch compares values by identity (C++). When an identity differs, and for the disk cache,
`fingerprint` says whether the value means the same.
"""

from __future__ import annotations

import enum
import struct
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

try:
    from _blake2 import blake2b  # hashlib would load OpenSSL, which takes milliseconds
except ImportError:
    from hashlib import blake2b

__all__ = [
    "MISSING",
    "Record",
    "UnstableError",
    "digest",
    "expand",
    "fingerprint",
    "function_records",
    "is_mutable",
    "present_value",
    "static_digest",
]

# (owner, name, value). The owner is a dict, a closure cell, or has the name as an attribute.
Record = tuple[Any, str, Any]

MISSING = object()
_MOST_NESTED = 12


class UnstableError(Exception):
    """A value that nothing but its identity names."""


def digest(*parts: str | bytes) -> str:
    """32 hexadecimal digits that differ whenever the parts do."""
    state = blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        state.update(b"%d:" % len(data))
        state.update(data)
    return state.hexdigest()


def present_value(owner: Any, name: str) -> Any:
    """What the name means to the owner now; MISSING where it means nothing."""
    if isinstance(owner, dict):
        return owner.get(name, MISSING)
    if isinstance(owner, types.CellType):
        try:
            return owner.cell_contents
        except ValueError:
            return MISSING
    return getattr(owner, name, MISSING)


def expand(records: Iterable[Record], *, follow_kernels: bool = False) -> list[Record]:
    """The records, and what the plain Python functions among their values read in turn.

    `follow_kernels` does the same for jit functions; the compiler reports those itself.
    """
    result: list[Record] = []
    seen: set[tuple[int, str]] = set()
    waiting = list(reversed(list(records)))
    while waiting:
        owner, name, value = waiting.pop()
        if (id(owner), name) in seen:
            continue
        seen.add((id(owner), name))
        result.append((owner, name, value))
        function = value.fn if follow_kernels and is_kernel(value) else value
        if isinstance(function, types.FunctionType) and is_users_own(function):
            waiting.extend(function_records(function))
    return result


def is_kernel(value: Any) -> bool:
    """Whether a value is a jit function."""
    function = getattr(value, "fn", None)
    return isinstance(function, types.FunctionType) and isinstance(
        getattr(value, "source", None), str
    )


def static_digest(function: types.FunctionType, *parts: str) -> str:
    """Names what a kernel may depend on, read from its code without compiling it."""
    values = []
    for _, name, value in expand(function_records(function), follow_kernels=True):
        try:
            values.append(f"{name}={fingerprint(value)}")
        except UnstableError:
            values.append(f"{name}: {type_name(value)}")
    return digest(*parts, *sorted(values))


def function_records(function: types.FunctionType) -> Iterator[Record]:
    """The globals and closure cells that a function's code names, with attributes of modules."""
    scope = function.__globals__
    names = list(code_names(function.__code__))
    for name in names:
        if name not in scope:
            continue
        yield scope, name, scope[name]
        yield from module_records(scope[name], names)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        value = present_value(cell, name)
        if value is not MISSING:
            yield cell, name, value
            yield from module_records(value, names)


def module_records(value: Any, names: list[str]) -> Iterator[Record]:
    """Attributes of a module that a function may read: all that its code names."""
    if not isinstance(value, types.ModuleType):
        return
    for name in names:
        if name in vars(value):
            yield value, name, vars(value)[name]


def code_names(code: types.CodeType) -> Iterator[str]:
    """The names of globals and attributes in a function's code, nested functions included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_names(constant)


def is_users_own(function: types.FunctionType) -> bool:
    """False for functions of Enceladus, the standard library and installed packages.

    Those change with their version alone, so their own globals are not followed.
    """
    top = (function.__module__ or "").partition(".")[0]
    if top in sys.stdlib_module_names and top != "__main__":
        return False
    filename = function.__code__.co_filename
    return top != "enceladus" and "site-packages" not in filename


def is_mutable(value: Any) -> bool:
    """Whether a value can change and stay the same object, so that identity proves nothing."""
    if isinstance(value, (list, dict, set, bytearray)) or is_array(value):
        return True
    if isinstance(value, (type, types.ModuleType, types.FunctionType, enum.Enum)):
        return False
    if isinstance(value, tuple):
        return any(is_mutable(element) for element in value)
    hashed_by = getattr(type(value), "__hash__", None)
    by_identity = hashed_by is None or hashed_by is object.__hash__
    return by_identity and hasattr(value, "__dict__") and not hasattr(value, "__wrapped__")


def is_array(value: Any) -> bool:
    """Whether a value is a NumPy array or like one; scalars of NumPy are not."""
    return hasattr(value, "tobytes") and hasattr(value, "shape") and hasattr(value, "__setitem__")


def fingerprint(value: Any, depth: int = 0) -> str:
    """A text that is equal for values that mean the same to a kernel, in any process.

    Raises:
        UnstableError: the value has none: its repr shows an address, or it is nested too deeply.
    """
    if depth > _MOST_NESTED:
        raise UnstableError(type(value).__name__)
    if type(value) in (type(None), bool, int, str, bytes):
        return f"{type(value).__name__}:{value!r}"
    if type(value) is float:
        return f"float:{struct.pack('<d', value).hex()}"
    if isinstance(value, types.ModuleType):
        return f"module:{value.__name__}"
    if isinstance(value, type):
        return f"type:{value.__module__}.{value.__qualname__}"
    if isinstance(value, types.FunctionType):
        return function_fingerprint(value, depth)
    if isinstance(value, (types.BuiltinFunctionType, types.MethodDescriptorType)):
        return f"builtin:{getattr(value, '__module__', None)}.{value.__qualname__}"
    if isinstance(value, (tuple, list, dict, set, frozenset)):
        return container_fingerprint(value, depth)
    return object_fingerprint(value, depth)


def container_fingerprint(value: Any, depth: int) -> str:
    """By the elements; the order counts where the container has one."""
    kind = type_name(value)
    if isinstance(value, dict):
        parts = [fingerprint(part, depth + 1) for pair in value.items() for part in pair]
    else:
        parts = [fingerprint(element, depth + 1) for element in value]
    if isinstance(value, (set, frozenset)):
        parts.sort()
    return f"{kind}:{digest(*parts)}"


def function_fingerprint(function: types.FunctionType, depth: int) -> str:
    """By code and defaults; globals and closure cells that it reads are records of their own."""
    name = f"{function.__module__}.{function.__qualname__}"
    if hasattr(function, "_enc_builtin"):
        return f"tl:{name}"
    parts = [code_fingerprint(function.__code__)]
    for default in (function.__defaults__ or (), function.__kwdefaults__ or {}):
        parts.append(fingerprint(default, depth + 1))
    return f"function:{name}:{digest(*parts)}"


def code_fingerprint(code: types.CodeType) -> str:
    """By what the code does: instructions, names and constants, not lines."""
    parts: list[str | bytes] = [code.co_code, *code.co_names, "|", *code.co_varnames, "|"]
    for constant in code.co_consts:
        is_code = isinstance(constant, types.CodeType)
        parts.append(code_fingerprint(constant) if is_code else fingerprint_or_repr(constant))
    return digest(*parts)


def fingerprint_or_repr(constant: Any) -> str:
    """For constants of code, whose reprs are always stable."""
    try:
        return fingerprint(constant)
    except UnstableError:
        return repr(constant)


def object_fingerprint(value: Any, depth: int) -> str:
    """Jit functions by their text, enumeration members by value, others by repr or attributes."""
    if is_kernel(value):
        return f"jit:{function_fingerprint(value.fn, depth)}:{digest(value.source)}"
    if isinstance(value, enum.Enum):
        return f"enum:{type_name(value)}.{value.name}={fingerprint(value.value, depth + 1)}"
    if is_array(value):  # whose repr leaves elements out
        return f"{type_name(value)}:{value.dtype}{value.shape}:{digest(value.tobytes())}"
    text = repr(value)
    if " at 0x" not in text:
        return f"{type_name(value)}:{text}"
    if hasattr(value, "__dict__"):
        return f"{type_name(value)}:{fingerprint(vars(value), depth + 1)}"
    raise UnstableError(type_name(value))


def type_name(value: Any) -> str:
    """The full name of a value's type."""
    return f"{type(value).__module__}.{type(value).__qualname__}"
