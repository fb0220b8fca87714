"""Loops, compile-time checks and messages, and output and checks at run time."""

import builtins
import functools
import operator
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from enceladus.errors import DeviceAssertionError
from enceladus.interpreter.context import current, fail, place
from enceladus.interpreter.promotion import is_number, to_value
from enceladus.interpreter.shapes import constant
from enceladus.interpreter.values import TABLE, Value, describe
from enceladus.language import core
from enceladus.language.core import dtype, unwrap


def run_time_range(start: Any, end: Any, step: Any) -> Iterator[Value]:
    """The iterations of `range` and `tl.range`: int32, or int64 where a bound does not fit."""
    bounds = [to_value(bound) for bound in (start, end, step)]
    for bound in bounds:
        if bound.shape or not bound.dtype.is_int():
            fail(f"`range` takes integer scalars, not a {describe(bound)}")
    narrow = all(
        bound.dtype.primitive_bitwidth < 32 or bound.dtype == core.int32 for bound in bounds
    )
    element = core.int32 if narrow else core.int64
    first, last, stride = (operator.index(bound) for bound in bounds)
    if stride == 0:
        fail("the step of `range` is 0")
    for number in builtins.range(first, last, stride):
        yield to_value(number, element)


def python_range(*bounds: Any) -> Iterator[Value]:
    """The builtin `range` inside a kernel."""
    start, end, step = 0, bounds[0], 1
    if len(bounds) > 1:
        start, end = bounds[:2]
    if len(bounds) > 2:
        step = bounds[2]
    return run_time_range(start, end, step)


def static_range(start: Any, end: Any, step: Any) -> Iterator[int]:
    bounds = [constant(bound, "a bound of `tl.static_range`") for bound in (start, end, step)]
    return iter(builtins.range(*bounds))


def _python_extremum(name: str, plain: Any) -> Any:
    better = "operator gt" if name == "max" else "operator lt"

    def choose(best: Any, other: Any) -> Any:
        # Python's own rule, which matters for NaN: the first stays unless the next is better.
        return TABLE["where"](TABLE[better](other, best), other, best)

    def extremum(*operands: Any, **kwargs: Any) -> Any:
        alone = operands[0] if len(operands) == 1 and isinstance(operands[0], tuple) else operands
        values = [unwrap(operand) for operand in alone]
        if not any(isinstance(value, Value) for value in values):
            return plain(*operands, **kwargs)
        if any(isinstance(value, Value) and value.shape for value in values):
            fail(f"`{name}` takes scalars", f"use `tl.{name}imum` between tiles")
        return functools.reduce(choose, values)

    return extremum


# What these names mean inside a kernel, in place of Python's own.
PYTHON_BUILTINS = {
    "range": python_range,
    "min": _python_extremum("min", builtins.min),
    "max": _python_extremum("max", builtins.max),
}


def static_assert(cond: Any, msg: str = "") -> None:
    if isinstance(unwrap(cond), Value):
        fail("the condition of `tl.static_assert` is known only at run time")
    if not unwrap(cond):
        fail(f"static assertion failed: {unwrap(msg)}" if msg else "static assertion failed")


def static_print(
    *values: Any, sep: str = " ", end: str = "\n", file: Any = None, flush: bool = False
) -> None:
    shown = [describe(value) if isinstance(value, Value) else unwrap(value) for value in values]
    print(*shown, sep=sep, end=end, file=file or sys.stdout, flush=flush)


def assume(cond: Any) -> None:
    if not bool(unwrap(cond)):
        raise DeviceAssertionError(
            f"{place()}: program {current().program}: what `tl.assume` states does not hold"
        )


def device_assert(cond: Any, msg: str = "", mask: Any = None) -> None:
    holds = to_value(cond).data != 0
    if mask is not None:
        holds = holds | (to_value(mask).data == 0)
    if not holds.all():
        raise DeviceAssertionError(
            f"{place()}: program {current().program}: assertion failed: {unwrap(msg)}"
        )


def printed_prefix(prefix: str, has_values: bool) -> str:
    """A prefix as printed: a space before it, and `: ` after it where values follow."""
    if has_values:
        prefix = prefix.rstrip()
        prefix = f"{prefix if prefix.endswith(':') else prefix + ':'} "
    return prefix if prefix.startswith(" ") else f" {prefix}"


def device_print(prefix: str, *args: Any, hex: bool = False) -> None:
    start = f"pid {current().program}"
    label = printed_prefix(unwrap(prefix), bool(args))
    if not args:
        print(start + label)
    for number, operand in enumerate(args):
        value = to_value(operand)
        which = f"(operand {number}) " if len(args) > 1 else ""
        for index in np.ndindex(value.shape):
            where = f"({', '.join(str(i) for i in index)})"
            shown = printed(value.data[index], value.dtype, bool(unwrap(hex)))
            print(f"{start} idx {where}{label}{which}{shown}")


def printed(element: Any, element_type: dtype, hexadecimal: bool) -> str:
    """One element as `device_print` writes it, like C's `%f`, `%d` and `0x%0*x`."""
    if hexadecimal:
        bits = np.asarray(element).view(f"u{element.dtype.itemsize}")
        return f"0x{int(bits):0{2 * element.dtype.itemsize}x}"
    return f"{float(element):f}" if element_type.is_floating() else str(int(element))


def _same(input: Any, values: Any) -> Any:
    return to_value(input) if is_number(input) else input


TABLE.update(
    range=run_time_range,
    static_range=static_range,
    static_assert=static_assert,
    static_print=static_print,
    assume=assume,
    device_assert=device_assert,
    device_print=device_print,
    debug_barrier=lambda: None,
    multiple_of=_same,
    max_contiguous=_same,
    max_constancy=_same,
)
