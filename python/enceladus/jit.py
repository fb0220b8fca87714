"""`enceladus.jit`: from a Python function to a kernel that can be launched.

The object made here knows the function's text and parameters; what a launch does is in C++
(`src/bindings/launcher.h`), what a compilation needs beside the compiler in `_cache`.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from enceladus import _core, _early_compiler, _environment
from enceladus._dependencies import static_digest
from enceladus._parameters import Parameter, parameters_of
from enceladus._source import source_of
from enceladus._suggestions import refuse_unknown
from enceladus._variants import Variants
from enceladus.compiled import CompiledKernel
from enceladus.errors import CompilationError
from enceladus.language import _registry

if TYPE_CHECKING:
    from enceladus.explain import Report

__all__ = ["JITFunction", "Parameter", "async_numpy", "cdiv", "jit", "next_power_of_2"]

MATH_MODES = ("relaxed", "fast", "precise")


class JITFunction(_core.KernelBase):
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
        _early_compiler.note_source(source.filename)
        self.first_line = source.first_line
        self.indent = source.indent
        self.interpret = interpret
        self.math_mode = math_mode
        self.debug = debug
        self.parameters = parameters_of(function, do_not_specialize, do_not_specialize_on_alignment)
        self._variants = Variants(self)
        self._configure(self.__name__, self.parameters, interpret, debug)

    def __repr__(self) -> str:
        return f"<enceladus.jit function {self.__qualname__} at {self.filename}:{self.first_line}>"

    def __reduce__(self) -> str:
        """Pickles and copies by name, as functions do."""
        return self.__qualname__

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """A helper's call from a kernel in the interpreter; anywhere else a mistake."""
        if _registry.is_interpreting():
            return _registry.implementation("call helper")(self.fn, *args, **kwargs)
        raise TypeError(
            f"`{self.__name__}` is a kernel: launch it with {self.__name__}[grid](...), or call it "
            "from another kernel"
        )

    def run(self, *args: Any, grid: Any, **options: Any) -> None:
        """Launches: the same as `kernel[grid](*args, **options)`.

        Args:
            *args: the kernel's arguments.
            grid: as between the brackets.
            **options: arguments by name, constexprs and launch options.
        """
        self[grid](*args, **options)

    def warmup(self, *args: Any, grid: Any = None, **options: Any) -> CompiledKernel:
        """Compiles without launching, so that the first launch need not.

        Args:
            *args: real arguments, or stand-ins for arrays: `MockTensor`, dtypes.
            grid: accepted for symmetry with a launch; compiled code serves every grid.
            **options: arguments by name, constexprs and launch options.

        Returns:
            The compiled kernel.

        Raises:
            CompilationError: the kernel cannot be compiled.
        """
        compiled: CompiledKernel = self._prepare(*args, **options)
        return compiled

    def explain(self, *args: Any, grid: Any = None, **options: Any) -> Report:
        """Prints how the kernel was compiled and what it should cost, and returns the report.

        Args:
            *args: as for `warmup`.
            grid: makes totals of the figures that are for one program.
            **options: arguments by name, constexprs and launch options.

        Returns:
            The report: a `str` with `to_dict()` and an HTML form for notebooks.
        """
        from enceladus.explain import Report

        compiled = self.warmup(*args, **options)
        report = Report.of(compiled, grid=None if callable(grid) else grid)
        print(report)
        return report

    def digest(self) -> str:
        """Names the kernel's text and all that it reads, the same in every process."""
        return static_digest(self.fn, self.source, self.math_mode, _core.build_identity())

    def is_interpreted(self) -> bool:
        """Whether a launch made now runs in the interpreter."""
        chosen: bool = _environment.read("INTERPRET") if self.interpret is None else self.interpret
        return chosen

    def _specialize(
        self, key: bytes, specs: list[tuple[Any, ...]], options: dict[str, Any], launching: bool
    ) -> CompiledKernel:
        """Called by the launch path for a specialization that its table does not have."""
        try:
            return self._variants.find(key, specs, options, launching)
        except CompilationError as error:
            # Its text says where in the kernel; our own frames would only bury that.
            raise error.with_traceback(None) from None

    def _interpret(self, grid: tuple[int, int, int], arguments: dict[str, Any]) -> None:
        """Called by the launch path in place of a launch."""
        from enceladus import interpreter
        from enceladus.interpreter.checks import warn_of_refusals

        constexprs = [
            parameter.name
            for parameter in self.parameters
            if parameter.is_constexpr or arguments[parameter.name] is None
        ]
        warn_of_refusals(self, arguments, constexprs)
        interpreter.run(self.fn, grid, arguments, constexprs)


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


def jit(
    fn: Callable[..., Any] | None = None,
    *,
    do_not_specialize: Sequence[str | int] = (),
    do_not_specialize_on_alignment: Sequence[str | int] = (),
    interpret: bool | None = None,
    math_mode: str = "relaxed",
    debug: bool | None = None,
    **unknown: Any,
) -> Any:
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
        **unknown: refused with the name of the closest option.

    Returns:
        A `JITFunction`: `kernel[grid](*args)` launches it.

    Raises:
        TypeError: not a Python function, or one with `*args`; an option that does not exist.
        ValueError: a `math_mode` that does not exist.
        OSError: its source cannot be had.

    Example:
        >>> import enceladus, enceladus.language as tl
        >>> @enceladus.jit
        ... def fill(x_ptr, value, BLOCK: tl.constexpr):
        ...     tl.store(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), value)
    """
    refuse_unknown(jit, unknown)

    def decorate(function: Callable[..., Any]) -> JITFunction:
        return JITFunction(
            function,
            do_not_specialize=do_not_specialize,
            do_not_specialize_on_alignment=do_not_specialize_on_alignment,
            interpret=interpret,
            math_mode=math_mode,
            debug=debug,
        )

    return decorate if fn is None else decorate(fn)


def async_numpy(enabled: bool) -> None:
    """Chooses whether launches on NumPy arrays return at once.

    Args:
        enabled: False, the default, makes such launches wait for their result. True makes them
            return at once; `enceladus.synchronize()` must then come before the arrays are read.
    """
    _core.set_async_numpy(bool(enabled))


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
