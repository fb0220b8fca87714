# ruff: noqa
"""Python that the language does not have, and names that mean nothing."""

import math
import types

import enceladus
import enceladus.language as tl

from .registry import bad

COUNTER = 0


@bad("UnsupportedPython")
def try_statement(x_ptr, i_ptr, n):
    try:  # here
        tl.store(x_ptr, 1.0)
    except ValueError:
        pass


@bad("UnsupportedPython")
def with_statement(x_ptr, i_ptr, n):
    with open("file"):  # here
        tl.store(x_ptr, 1.0)


@bad("UnsupportedPython")
def nested_function(x_ptr, i_ptr, n):
    def helper(x):  # here
        return x

    tl.store(x_ptr, helper(1.0))


@bad("UnsupportedPython")
def yielding_expression(x_ptr, i_ptr, n):
    del n  # here


@bad("UnsupportedPython")
def global_statement(x_ptr, i_ptr, n):
    global COUNTER  # here
    COUNTER = 1


@bad("AssertStatement", "tl.device_assert")
def assert_statement(x_ptr, i_ptr, n):
    assert n > 0  # here


@bad("ItemAssignment", "tl.where")
def item_assignment(x_ptr, i_ptr, n):
    x = tl.zeros((8,), tl.float32)
    x[0] = 1.0  # here


@bad("AttributeAssignment", "`shape`")
def attribute_assignment(x_ptr, i_ptr, n):
    x = tl.zeros((8,), tl.float32)
    x.shape = (4, 2)  # here


@bad("StarredTarget")
def starred_target(x_ptr, i_ptr, n):
    first, *rest = (1, 2, 3)  # here


@bad("LoopElse", "`for`")
def for_with_else(x_ptr, i_ptr, n):
    for i in range(n):  # here
        tl.store(x_ptr + i, 1.0)
    else:
        tl.store(x_ptr, 1.0)


@bad("LoopElse", "`while`")
def while_with_else(x_ptr, i_ptr, n):
    while n > 3:  # here
        n -= 1
    else:
        tl.store(x_ptr, 1.0)


@bad("WalrusInWhile")
def walrus_in_while(x_ptr, i_ptr, n):
    while (m := tl.load(i_ptr)) > 0:  # here
        tl.store(i_ptr, m - 1)


@bad("RuntimeComprehension")
def comprehension_over_a_tile(x_ptr, i_ptr, n):
    x = tl.load(x_ptr + tl.arange(0, 8))
    y = [value + 1 for value in x]  # here


@bad("RuntimeInFormattedString", "tl.device_print")
def run_time_value_in_an_f_string(x_ptr, i_ptr, n):
    tl.static_print(f"n is {n}")  # here


@bad("KernelReturnsValue", "returns_a_value")
def returns_a_value(x_ptr, i_ptr, n):
    return n + 1  # here


@enceladus.jit
def calls_itself(x):
    return calls_itself(x - 1)


@bad("Recursion", "`calls_itself`")
def recursion(x_ptr, i_ptr, n):
    tl.store(i_ptr, calls_itself(n))  # elsewhere


def step(x):
    return following(x)


def chain_of_helpers(length):
    """A helper that reaches `tl.abs` through this many others."""
    following = tl.abs
    for _ in range(length):
        function = types.FunctionType(step.__code__, {"following": following}, "step")
        following = enceladus.jit(function)
    return following


LONG_CHAIN = chain_of_helpers(150)


@bad("HelperDepth", "100 helpers")
def helpers_of_helpers(x_ptr, i_ptr, n):
    tl.store(i_ptr, LONG_CHAIN(n))  # elsewhere


@bad("Print", "tl.device_print")
def print_of_a_number(x_ptr, i_ptr, n):
    print(n)  # here


@bad("PythonConversion", "x.to(tl.float32)")
def float_of_a_run_time_value(x_ptr, i_ptr, n):
    tl.store(x_ptr, float(n))  # here


@bad("BuiltinOnTile", "tl.maximum")
def max_of_tiles(x_ptr, i_ptr, n):
    x = tl.load(x_ptr + tl.arange(0, 8))
    y = max(x, 0.0)  # here


@bad("RangeOutsideFor", "tl.arange")
def range_as_a_value(x_ptr, i_ptr, n):
    numbers = range(n)  # here


@bad("MatMulOperator", "tl.dot")
def matmul_operator(x_ptr, i_ptr, n):
    x = tl.zeros((16, 16), tl.float32)
    y = x @ x  # here


@bad("UnknownName", "`undefined_name`")
def unknown_name(x_ptr, i_ptr, n):
    tl.store(x_ptr, undefined_name)  # here


@bad("UnknownFunction", "program_id")
def misspelt_function_gets_a_suggestion(x_ptr, i_ptr, n):
    pid = tl.programid(0)  # here


@bad("UnknownMethod", "sum")
def misspelt_method_gets_a_suggestion(x_ptr, i_ptr, n):
    x = tl.load(x_ptr + tl.arange(0, 8))
    y = x.summ()  # here


@bad("UnknownAttribute", "pie")
def unknown_attribute(x_ptr, i_ptr, n):
    tl.store(x_ptr, math.pie)  # here


@bad("NotAssignedYet", "`total`")
def read_before_assignment(x_ptr, i_ptr, n):
    tl.store(x_ptr, total)  # here
    total = 1.0


@bad("DefinedInOneBranch", "`x`")
def defined_in_one_branch(x_ptr, i_ptr, n):
    if n > 3:
        x = tl.make_tensor_descriptor(x_ptr, [n], [1], [8])
    tl.store(x_ptr + tl.arange(0, 8), x.load([0]))  # here


@bad("DefinedInLoop", "`last`")
def defined_in_a_loop(x_ptr, i_ptr, n):
    for i in range(n):
        last = i
    tl.store(i_ptr, last)  # here


@bad("BranchesDisagree", "`x`")
def branches_disagree(x_ptr, i_ptr, n):
    if n > 3:
        x = tl.zeros((8,), tl.float32)
    else:
        x = tl.zeros((16,), tl.float32)
    tl.store(x_ptr, tl.sum(x))  # here


@bad("LoopTargetChanges", "`i` is float32 before the loop that counts in int32")
def loop_variable_of_another_type_before(x_ptr, i_ptr, n):
    i = tl.load(x_ptr)
    for i in range(n):
        tl.store(x_ptr + i, 1.0)
    tl.store(i_ptr, i)  # here


@bad("DescriptorsDisagree", "`d`")
def descriptor_chosen_by_a_branch(x_ptr, i_ptr, n):
    if n > 3:
        d = tl.make_tensor_descriptor(x_ptr, [n], [1], [16])
    else:
        d = tl.make_tensor_descriptor(x_ptr + 16, [n], [1], [16])
    d.store([0], tl.zeros((16,), tl.float32))  # here


@bad("DescriptorChanges", "`d`")
def descriptor_changed_in_a_loop(x_ptr, i_ptr, n):
    d = tl.make_tensor_descriptor(x_ptr, [n], [1], [16])
    for i in range(n):
        d.store([0], tl.zeros((16,), tl.float32))
        d = tl.make_tensor_descriptor(x_ptr + i, [n], [1], [16])  # here


@bad("LoopVariableChanges", "`total`")
def type_change_in_a_loop(x_ptr, i_ptr, n):
    total = 0
    for i in range(n):
        total = total + tl.load(x_ptr + i)  # here
    tl.store(x_ptr, total)


@bad("LoopVariableChanges", "`x`")
def shape_change_in_a_loop(x_ptr, i_ptr, n):
    x = 0.0
    for i in range(n):
        x = x + tl.load(x_ptr + tl.arange(0, 8))  # here
    tl.store(x_ptr, tl.sum(x))


@bad("ConstexprVariable", "`m`")
def constexpr_variable_of_a_run_time_value(x_ptr, i_ptr, n):
    m: tl.constexpr = n + 1  # here
