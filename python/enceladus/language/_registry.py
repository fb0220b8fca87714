"""The registry of `tl` builtins: which names exist, which are methods, who answers a call.

A builtin is a function whose meaning the compiler and the interpreter supply. Its Python body is
never run: the decorator keeps the signature and the docstring, and forwards a call to the
interpreter active on this thread. Not here: functions written in terms of others (`standard.py`).
"""

import functools
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# What a builtin takes and gives inside a kernel. The compiler has its own types for these and
# Python has none, so the aliases inform the reader only.
Tile: TypeAlias = Any  # a tile or a scalar
Shape: TypeAlias = Any  # a tuple or list of compile-time ints
Descriptor: TypeAlias = Any  # what make_tensor_descriptor gives

BUILTINS: dict[str, Callable[..., Any]] = {}
HELPERS: dict[str, Callable[..., Any]] = {}
# Method name of a tile or scalar -> name of the builtin or helper that takes it first.
TILE_METHODS: dict[str, str] = {}
# Method name of a tensor descriptor -> name of the builtin that takes it first.
DESCRIPTOR_METHODS: dict[str, str] = {}


class _Active(threading.local):
    implementations: Mapping[str, Callable[..., Any]] | None = None


_active = _Active()


def set_active(
    implementations: Mapping[str, Callable[..., Any]] | None,
) -> Mapping[str, Callable[..., Any]] | None:
    """Makes an interpreter answer builtins called on this thread; returns who did before."""
    previous = _active.implementations
    _active.implementations = implementations
    return previous


def is_interpreting() -> bool:
    """Whether a kernel is being interpreted on this thread."""
    return _active.implementations is not None


def implementation(name: str) -> Callable[..., Any]:
    """The active interpreter's function for builtin `name`.

    Raises:
        RuntimeError: no kernel is being interpreted on this thread.
    """
    if _active.implementations is None:
        raise RuntimeError(
            f"`tl.{name}` works only inside a kernel: call it from a function decorated with "
            "`@enceladus.jit`, launched as `kernel[grid](...)`"
        )
    return _active.implementations[name]


def builtin(
    *, name: str | None = None, method: str | bool = False, descriptor_method: str | None = None
) -> Callable[[Function], Function]:
    """Registers a stub as a builtin.

    Args:
        name: the registered name, the function's own by default.
        method: True when it is also a tile method of that name; a string for a second name.
        descriptor_method: its name as a method of a tensor descriptor.
    """

    def register(stub: Function) -> Function:
        registered = name or stub.__name__

        @functools.wraps(stub)
        def call(*args: Any, **kwargs: Any) -> Any:
            return implementation(registered)(*args, **kwargs)

        call._enc_builtin = registered  # type: ignore[attr-defined]
        BUILTINS[registered] = call
        if method:
            TILE_METHODS[registered] = registered
        if isinstance(method, str):
            TILE_METHODS[method] = registered
        if descriptor_method:
            DESCRIPTOR_METHODS[descriptor_method] = registered
        return call  # type: ignore[return-value]

    return register


def helper(*, method: bool = False) -> Callable[[Function], Function]:
    """Marks a function of the language that is written in it, and inlined like a user's helper."""

    def register(function: Function) -> Function:
        function._enc_helper = True  # type: ignore[attr-defined]
        HELPERS[function.__name__] = function
        if method:
            TILE_METHODS[function.__name__] = function.__name__
        return function

    return register
