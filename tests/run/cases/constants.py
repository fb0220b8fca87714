"""Compile-time values of every kind, and how they differ from run-time integers."""

import math

import numpy as np

import enceladus
import enceladus.language as tl

from .case import Case, output
from .control import wrapped

TABLE = (2, 5, 11)
OFFSET = 7


def largest_power(limit):
    """A plain Python function of compile-time values."""
    return 1 << (limit.bit_length() - 1)


@enceladus.jit
def static_kernel(
    out_ptr,
    FLAG: tl.constexpr,
    NAME: tl.constexpr,
    SHAPE: tl.constexpr,
    NOTHING: tl.constexpr,
    DTYPE: tl.constexpr,
):
    size: tl.constexpr = SHAPE[0] * SHAPE[1]
    tl.static_assert(size == 32, f"size is {size}")
    value = tl.zeros((size,), DTYPE)
    if FLAG and NAME == "add" and NOTHING is None:
        for i in tl.static_range(len(TABLE)):
            value += TABLE[i] * (i + 1)
    else:
        value = undefined_name  # noqa: F821 (never compiled, never run)
    value += -7 // 2 + largest_power(100) + int(math.pi) + OFFSET
    value += (1 if NAME != "add" else 2) + min(4, 9) + max(SHAPE) + abs(-3)
    tl.store(out_ptr + tl.arange(0, size), value)


@enceladus.jit
def run_time_integers_kernel(out_ptr, a, b, c):
    tl.store(out_ptr + 0, a // b)
    tl.store(out_ptr + 1, a % b)
    tl.store(out_ptr + 2, tl.cdiv(c, 4))
    tl.store(out_ptr + 3, a >> 1)
    tl.store(out_ptr + 4, (c * c * c * c * c) >> 3)
    tl.store(out_ptr + 5, a / b)
    tl.store(out_ptr + 6, -7 // 2)
    tl.store(out_ptr + 7, (a - a - 7) // 2)


def static_inputs(name):
    def inputs():
        return {
            "out_ptr": output(name, 32),
            "FLAG": True,
            "NAME": "add",
            "SHAPE": (4, 8),
            "NOTHING": None,
            "DTYPE": getattr(tl, name),
        }

    return inputs


def static_expected(a):
    value = 2 + 10 + 33 - 4 + 64 + 3 + 7 + 2 + 4 + 8 + 3
    return {"out_ptr": np.full(32, value).astype(a["out_ptr"].dtype)}


def integers_expected(a):
    power = wrapped(a["c"] ** 5) >> 3
    return {"out_ptr": np.array([-3, -1, 251, -4, power, -3.5, -4, -3], np.float64)}


def cases():
    return [
        Case(
            "compile-time values int32",
            static_kernel,
            (1,),
            static_inputs("int32"),
            static_expected,
        ),
        Case(
            "compile-time values float32",
            static_kernel,
            (1,),
            static_inputs("float32"),
            static_expected,
        ),
        Case(
            "run-time integers truncate and wrap, compile-time ones are Python's",
            run_time_integers_kernel,
            (1,),
            lambda: {"out_ptr": output("float64", 8), "a": -7, "b": 2, "c": 1001},
            integers_expected,
        ),
    ]
