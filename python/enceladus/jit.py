"""`enceladus.jit`: from a Python function to a kernel that can be launched.

The object made here knows the function's text and parameters; what a launch does is in C++
(`src/bindings/launcher.h`), what a compilation needs beside the compiler in `_cache`.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload

from enceladus._source import source_of
from enceladus.language import _registry

__all__ = ["JITFunction", "Parameter", "cdiv", "jit", "next_power_of_2"]

MATH_MODES = ("relaxed", "fast", "precise")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    Attributes:
        name: as in the function.
        annotation: the annotation as written or evaluated; None where there is none.
        default: the default value; meaningless unless `has_default`.
        has_default: whether there is a default.
        is_constexpr: whether it is annotated `tl.constexpr`.
        do_not_specialize: whether facts about its value stay out of the specialization.
        do_not_specialize_on_alignment: the same for alignment and divisibility by 16 alone.
        keyword_only: whether it stands behind a `*`.
        positional_only: whether it stands before a `/`.
    """

    name: str
    annotation: object = None
    default: object = None
    has_default: bool = False
    is_constexpr: bool = False
    do_not_specialize: bool = False
    do_not_specialize_on_alignment: bool = False
    keyword_only: bool = False
    positional_only: bool = False


def is_constexpr_annotation(annotation: object) -> bool:
    """Whether an annotation, evaluated or as text, is `tl.constexpr`."""
    if isinstance(annotation, str):
        # Quoted once more where a quoted annotation meets `from __future__ import annotations`.
        return annotation.strip(" \"'").rsplit(".", 1)[-1] == "constexpr"
    return getattr(annotation, "__name__", None) == "constexpr"


class JITFunction:
    """A kernel, or a helper that kernels call.

    Attributes:
        fn: the Python function.
        source: its text, dedented, decorators included.
        filename: the file of that text.
        first_line: the line of the file that is line 1 of `source`.
        indent: columns that dedenting removed.
        parameters: one `Parameter` each, in order.
        interpret: True or False where `jit` was told; None follows ENCELADUS_INTERPRET.
        math_mode: "relaxed", "fast" or "precise".
        debug: True or False where `jit` was told; None follows ENCELADUS_DEBUG.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        do_not_specialize: Sequence[str | int] = (),
        do_not_specialize_on_alignment: Sequence[str | int] = (),
        interpret: bool | None = None,
        math_mode: str = "relaxed",
        debug: bool | None = None,
    ) -> None:
        function = checked_function(fn)
        if math_mode not in MATH_MODES:
            raise ValueError(
                f"math_mode is one of {', '.join(map(repr, MATH_MODES))}, not {math_mode!r}"
            )
        source = source_of(function)
        self.fn = function
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__
        self.source = source.text
        self.filename = source.filename
        self.first_line = source.first_line
        self.indent = source.indent
        self.interpret = interpret
        self.math_mode = math_mode
        self.debug = debug
        self.parameters = parameters_of(function, do_not_specialize, do_not_specialize_on_alignment)

    def __repr__(self) -> str:
        return f"<enceladus.jit function {self.__qualname__} at {self.filename}:{self.first_line}>"

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """A helper's call from a kernel in the interpreter; anywhere else a mistake."""
        if _registry.is_interpreting():
            return _registry.implementation("call helper")(self.fn, *args, **kwargs)
        raise TypeError(
            f"`{self.__name__}` is a kernel: launch it with {self.__name__}[grid](...), or call it "
            "from another kernel"
        )


def checked_function(fn: object) -> types.FunctionType:
    """The function itself, or a TypeError that says what cannot be a kernel and why."""
    if isinstance(fn, JITFunction):
        raise TypeError(f"`{fn.__name__}` is decorated with enceladus.jit twice")
    if not isinstance(fn, types.FunctionType):
        kind = type(fn).__name__
        raise TypeError(
            f"enceladus.jit takes a function written in Python with def, not {fn!r} of type {kind}"
        )
    if fn.__name__ == "<lambda>":
        raise TypeError("enceladus.jit takes a function written with def, not a lambda")
    if inspect.isgeneratorfunction(fn) or inspect.iscoroutinefunction(fn):
        raise TypeError(f"`{fn.__name__}` is a generator or a coroutine; a kernel is neither")
    return fn


def parameters_of(
    function: types.FunctionType,
    do_not_specialize: Sequence[str | int],
    do_not_specialize_on_alignment: Sequence[str | int],
) -> list[Parameter]:
    """The function's parameters with what the decorator said about them."""
    signature = inspect.signature(function)
    names = list(signature.parameters)
    plain = named_parameters(function.__name__, "do_not_specialize", names, do_not_specialize)
    alignment = named_parameters(
        function.__name__,
        "do_not_specialize_on_alignment",
        names,
        do_not_specialize_on_alignment,
    )
    result = []
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"`{function.__name__}` takes *{name}: a kernel's parameters are named")
        has_annotation = parameter.annotation is not parameter.empty
        has_default = parameter.default is not parameter.empty
        result.append(
            Parameter(
                name=name,
                annotation=parameter.annotation if has_annotation else None,
                default=parameter.default if has_default else None,
                has_default=has_default,
                is_constexpr=is_constexpr_annotation(parameter.annotation),
                do_not_specialize=name in plain,
                do_not_specialize_on_alignment=name in alignment,
                keyword_only=parameter.kind is parameter.KEYWORD_ONLY,
                positional_only=parameter.kind is parameter.POSITIONAL_ONLY,
            )
        )
    return result


def named_parameters(
    kernel: str, option: str, names: list[str], chosen: Sequence[str | int]
) -> set[str]:
    """The names that a decorator option lists, given by name or by position."""
    if isinstance(chosen, str):
        raise TypeError(f"{option} takes a list of names, not the string {chosen!r}")
    result = set()
    for item in chosen:
        name = names[item] if isinstance(item, int) and item < len(names) else item
        if name not in names:
            raise ValueError(f"{option} names {item!r}, which is no parameter of `{kernel}`")
        result.add(str(name))
    return result


@overload
def jit(fn: Callable[..., Any]) -> JITFunction: ...


@overload
def jit(
    *,
    do_not_specialize: Sequence[str | int] = (),
    do_not_specialize_on_alignment: Sequence[str | int] = (),
    interpret: bool | None = None,
    math_mode: str = "relaxed",
    debug: bool | None = None,
) -> Callable[[Callable[..., Any]], JITFunction]: ...


def jit(fn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Makes a kernel of a function; used as `@enceladus.jit` or `@enceladus.jit(...)`.

    Args:
        fn: the function, where the decorator is used without parentheses.
        do_not_specialize: parameters (names or positions) whose values bring no facts with them:
            one compilation serves every value.
        do_not_specialize_on_alignment: parameters whose alignment, or divisibility by 16, brings
            none.
        interpret: True runs the kernel in the interpreter, False never does; None follows
            ENCELADUS_INTERPRET at each launch.
        math_mode: "relaxed" (default: multiplications and additions may be contracted), "fast"
            (also assumes that nothing is infinite or NaN) or "precise" (neither).
        debug: True checks `tl.device_assert` and bounds, False never does; None follows
            ENCELADUS_DEBUG at each launch.

    Returns:
        A `JITFunction`: `kernel[grid](*args)` launches it.

    Raises:
        TypeError: not a Python function, or one with `*args`.
        OSError: its source cannot be had.

    Example:
        >>> import enceladus, enceladus.language as tl
        >>> @enceladus.jit
        ... def fill(x_ptr, value, BLOCK: tl.constexpr):
        ...     tl.store(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), value)
    """
    if fn is None:
        return lambda function: JITFunction(function, **options)
    if options:
        return JITFunction(fn, **options)
    return JITFunction(fn)


def cdiv(x: int, y: int) -> int:
    """The quotient rounded up, for sizes and counts: `(x + y - 1) // y`.

    Example:
        >>> cdiv(1000, 256)
        4
    """
    return (x + y - 1) // y


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least `n`; 1 for n of 1 and less.

    Example:
        >>> next_power_of_2(1000)
        1024
    """
    return 1 if n <= 1 else 1 << (int(n) - 1).bit_length()
