"""The loop over the programs of a grid, and the functions that run in it."""

import builtins
import itertools
import types
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from enceladus.interpreter import (  # noqa: F401 (they fill TABLE)
    atomics,
    control,
    descriptors,
    elementwise,
    matrix,
    memory,
    operators,
    reductions,
    shapes,
)
from enceladus.interpreter.arguments import kernel_arguments
from enceladus.interpreter.context import Context, current, set_current
from enceladus.interpreter.promotion import is_number, to_value, weak_type
from enceladus.interpreter.rewrite import CARRY, RUN_TIME, rewritten
from enceladus.interpreter.values import TABLE, Value
from enceladus.language import _registry
from enceladus.language.core import unwrap

_BUILTINS = {**vars(builtins), **control.PYTHON_BUILTINS}


def run(
    function: types.FunctionType,
    grid: Sequence[int],
    arguments: Mapping[str, object],
    constexprs: Collection[str] = (),
) -> None:
    """Runs every program of a grid.

    Args:
        function: the kernel's Python function.
        grid: one to three extents; a zero runs nothing.
        arguments: by parameter name; arrays are written in place.
        constexprs: names of the compile-time parameters.

    Raises:
        CompilationError: the kernel does what the compiler refuses.
        OutOfBoundsError: an access outside an array.
        DeviceAssertionError: a `tl.device_assert` or `tl.assume` that does not hold.
    """
    extents = (*grid, 1, 1, 1)[:3]
    context = Context(grid=(int(extents[0]), int(extents[1]), int(extents[2])))
    bound = kernel_arguments(arguments, set(constexprs))
    previous_context, previous_table = set_current(context), _registry.set_active(TABLE)
    try:
        body = in_kernel(function)
        with np.errstate(all="ignore"):
            for z, y, x in itertools.product(*(range(extent) for extent in reversed(context.grid))):
                context.program = (x, y, z)
                body(**bound)
    finally:
        set_current(previous_context)
        _registry.set_active(previous_table)


def in_kernel(function: types.FunctionType) -> types.FunctionType:
    """The same function with the kernel's meaning of `range`, `min`, `max` and of assignments."""
    known = current().functions
    if function not in known:
        names = {"__builtins__": _BUILTINS, CARRY: carry, RUN_TIME: is_run_time}
        known[function] = rewritten(function, {**function.__globals__, **names})
    result: types.FunctionType = known[function]
    return result


def carry(value: Any, like: Any = None) -> Any:
    """What a variable is where a loop or a run-time branch takes it over.

    Args:
        value: what it was assigned; a Python number gets a type.
        like: what it was before the loop or branch: a number of the same kind takes its type.
    """
    if isinstance(value, tuple):
        parts = (
            like if isinstance(like, tuple) and len(like) == len(value) else (None,) * len(value)
        )
        return tuple(carry(part, other) for part, other in zip(value, parts, strict=True))
    value = unwrap(value)
    if not is_number(value):
        return value
    if isinstance(like, Value) and not like.shape and not like.dtype.is_ptr():
        same = like.dtype == weak_type(value, like.dtype, keep_bool=False)
        return to_value(value, like.dtype if same else None)
    return to_value(value)


def is_run_time(condition: Any) -> bool:
    """Whether a condition is known only when the kernel runs."""
    return isinstance(condition, Value)


def call_helper(function: types.FunctionType, *args: Any, **kwargs: Any) -> Any:
    """Runs a `@jit` function that a kernel calls."""
    return in_kernel(function)(*args, **kwargs)


TABLE["call helper"] = call_helper
