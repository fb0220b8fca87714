# ruff: noqa
"""Calls with arguments that do not fit."""

import enceladus
import enceladus.language as tl

from .registry import bad


@enceladus.jit
def helper(x, factor: tl.constexpr = 2):
    return x * factor


@enceladus.jit
def ramp(x, size: tl.constexpr):
    return x + tl.arange(0, size)


@enceladus.jit
def sometimes(x):
    if x > 0:
        return x


@enceladus.jit
def tile_or_scalar(x):
    if x > 0:
        return tl.zeros((8,), tl.float32)
    return 1.0


def python_function(x):
    return x + 1


def failing_function(x):
    raise KeyError("no such size")


@bad("NotCallable")
def call_of_a_number(x_ptr, i_ptr, n):
    y = n(3)  # here


@bad("MissingArgument", "`pointer`")
def missing_argument(x_ptr, i_ptr, n):
    x = tl.load()  # here


@bad("MissingArgument", "`x`")
def helper_without_its_argument(x_ptr, i_ptr, n):
    x = helper()  # here


@bad("TooManyArguments", "program_id")
def too_many_arguments(x_ptr, i_ptr, n):
    x = tl.program_id(0, 1)  # here


@bad("UnknownKeyword", "mask")
def misspelt_keyword_gets_a_suggestion(x_ptr, i_ptr, n):
    x = tl.load(x_ptr, maks=n > 0)  # here


@bad("ArgumentTwice", "`axis`")
def argument_twice(x_ptr, i_ptr, n):
    x = tl.program_id(0, axis=1)  # here


@bad("StarredArgument")
def starred_argument_that_is_no_tuple(x_ptr, i_ptr, n):
    x = helper(*n)  # here


@bad("DoubleStarredArgument")
def double_starred_argument(x_ptr, i_ptr, n):
    x = helper(n, **{"factor": 3})  # here


@bad("StarredToBuiltin", "tl.load")
def starred_argument_of_a_builtin(x_ptr, i_ptr, n):
    x = tl.load(*(x_ptr, n > 0))  # here


@bad("ConstexprParameter", "`size`")
def run_time_value_for_a_constexpr_parameter(x_ptr, i_ptr, n):
    x = ramp(n, size=n)  # here


@bad("ConstantNeeded", "tl.arange")
def run_time_extent(x_ptr, i_ptr, n):
    x = tl.arange(0, n)  # here


@bad("ConstantNeeded", "tl.static_range")
def run_time_bound_of_static_range(x_ptr, i_ptr, n):
    for i in tl.static_range(n):  # here
        tl.store(x_ptr + i, 1.0)


@bad("WrongArgument", "dtype")
def argument_of_the_wrong_kind(x_ptr, i_ptr, n):
    x = tl.zeros((8,), 3)  # here


@bad("UnknownChoice", "relaxed")
def unknown_memory_order(x_ptr, i_ptr, n):
    tl.atomic_add(i_ptr, 1, sem="seq_cst")  # here


@bad("RuntimeToPython", "`python_function`")
def run_time_value_to_a_python_function(x_ptr, i_ptr, n):
    x = python_function(n)  # here


@bad("MissingReturn", "`sometimes`")
def helper_that_returns_sometimes(x_ptr, i_ptr, n):
    tl.store(i_ptr, sometimes(n))  # elsewhere


@bad("ReturnTypes", "`tile_or_scalar`")
def helper_that_returns_two_shapes(x_ptr, i_ptr, n):
    tl.store(x_ptr, tl.sum(tile_or_scalar(n)))  # elsewhere


@bad("CompileTimeError", "no such size")
def python_function_that_raises(x_ptr, i_ptr, n):
    x = failing_function(3)  # here


@bad("CompileTimeError", "division")
def compile_time_division_by_zero(x_ptr, i_ptr, n):
    x = 1 // 0  # here


@bad("StaticAssertion", "block of 3")
def static_assertion(x_ptr, i_ptr, n):
    tl.static_assert(1 > 2, f"block of {1 + 2}")  # here


@bad("GridAxis", "3")
def grid_axis(x_ptr, i_ptr, n):
    x = tl.program_id(3)  # here


@bad("ArangeBounds")
def empty_arange(x_ptr, i_ptr, n):
    x = tl.arange(8, 8)  # here


@bad("RangeArguments")
def range_of_four(x_ptr, i_ptr, n):
    for i in range(0, n, 1, 2):  # here
        tl.store(x_ptr + i, 1.0)


@bad("RangeBound")
def range_of_a_float(x_ptr, i_ptr, n):
    for i in range(0, 2.5):  # here
        tl.store(x_ptr + i, 1.0)


@bad("RangeBound")
def range_of_a_tile(x_ptr, i_ptr, n):
    for i in range(tl.arange(0, 8)):  # here
        tl.store(x_ptr + i, 1.0)


@bad("ZeroStep")
def range_with_step_zero(x_ptr, i_ptr, n):
    for i in range(0, n, 0):  # here
        tl.store(x_ptr + i, 1.0)


@bad("UnrollCount", "1099511627776 iterations")
def unrolling_without_end(x_ptr, i_ptr, n):
    for i in tl.static_range(2**40):  # here
        tl.store(x_ptr + i, 1.0)


@bad("HintCount", "multiple_of")
def hints_for_too_many_dimensions(x_ptr, i_ptr, n):
    x = tl.multiple_of(tl.arange(0, 8), (8, 8))  # here


@bad("NotIterable")
def loop_over_a_scalar(x_ptr, i_ptr, n):
    for i in n:  # here
        tl.store(x_ptr + i, 1.0)


@bad("UnpackCount", "3")
def unpacking_too_many(x_ptr, i_ptr, n):
    a, b = (1, 2, n)  # here


@bad("TupleIndex", "5")
def tuple_index(x_ptr, i_ptr, n):
    pair = (n, n + 1)
    x = pair[5]  # here


@bad("NotATuple")
def tuple_needed(x_ptr, i_ptr, n):
    a, b = n  # here
