# ruff: noqa
"""Operands whose type or shape an operation does not take."""

import enceladus
import enceladus.language as tl

from .registry import bad


@bad("NotANumber")
def string_as_a_number(x_ptr, i_ptr, n):
    tl.device_print("value", "text")  # here


@bad("NotSubscriptable")
def subscript_of_a_descriptor(x_ptr, i_ptr, n):
    x = tl.make_tensor_descriptor(x_ptr, [n], [1], [8])
    y = x[0]  # here


@bad("SliceOfTile")
def element_of_a_tile(x_ptr, i_ptr, n):
    x = tl.arange(0, 8)
    y = x[0]  # here


@bad("TooManyIndices")
def too_many_subscripts(x_ptr, i_ptr, n):
    x = tl.arange(0, 8)
    y = x[:, :]  # here


@bad("LiteralTooLarge")
def literal_beyond_64_bits(x_ptr, i_ptr, n):
    x = n + 0x1_0000_0000_0000_0000_0  # here


@bad("BadOperand", "`-`")
def negative_of_a_pointer(x_ptr, i_ptr, n):
    x = -x_ptr  # here


@bad("WrongOperandType", "`&`")
def bits_of_a_float(x_ptr, i_ptr, n):
    x = tl.load(x_ptr) & 1  # here


@bad("Float8Computes", "`+`")
def sum_of_float8(x_ptr, i_ptr, n):
    x = tl.load(x_ptr).to(tl.float8e4nv) + 1.0  # here


@bad("Float8Computes", "`<`")
def comparison_of_float8(x_ptr, i_ptr, n):
    x = tl.load(x_ptr).to(tl.float8e5) < 0.0  # here


@bad("Float8Computes", "tl.max")
def maximum_of_float8(x_ptr, i_ptr, n):
    x = tl.max(tl.zeros((16,), tl.float8e5))  # here


@bad("Float8Computes", "tl.exp")
def exponential_of_float8(x_ptr, i_ptr, n):
    x = tl.exp(tl.zeros((16,), tl.float8e4nv))  # here


@bad("PointerOperand", "tl.load")
def maximum_of_a_pointer(x_ptr, i_ptr, n):
    x = tl.maximum(x_ptr, 1.0)  # here


@bad("PointerArithmetic", "`*`")
def pointer_times_two(x_ptr, i_ptr, n):
    x = x_ptr * 2  # here


@bad("PointerArithmetic", "float32")
def pointer_plus_float(x_ptr, i_ptr, n):
    x = x_ptr + 1.5  # here


@bad("FloorDivisionOfFloats", "tl.floor")
def floor_division_of_floats(x_ptr, i_ptr, n):
    x = tl.load(x_ptr) // 2.0  # here


@bad("ShiftTooFar", "32")
def shift_by_the_width(x_ptr, i_ptr, n):
    x = n << 32  # here


@bad("PowerExponent")
def run_time_exponent(x_ptr, i_ptr, n):
    x = n**n  # here


@bad("NegativePower")
def negative_power_of_an_integer(x_ptr, i_ptr, n):
    x = n**-1  # here


@bad("BadCondition")
def pointer_as_a_condition(x_ptr, i_ptr, n):
    if x_ptr:  # here
        tl.store(x_ptr, 1.0)


@bad("TileCondition", "a tile of shape (8,) cannot be a condition")
def tile_in_if(x_ptr, i_ptr, n):
    if tl.arange(0, 8) > 3:  # here
        tl.store(x_ptr, 1.0)


@bad("TileCondition", "tl.where")
def tile_in_and(x_ptr, i_ptr, n):
    x = tl.arange(0, 8)
    y = (x > 3) and (x < 5)  # here


@bad("TileCondition")
def tile_in_a_while(x_ptr, i_ptr, n):
    x = tl.arange(0, 8)
    while x > 3:  # here
        x -= 1


@bad("ConditionalTypes")
def conditional_of_functions(x_ptr, i_ptr, n):
    x = tl.float32 if n > 3 else tl.float16  # here


@bad("ShapesDoNotBroadcast", "(8,) and (16,)")
def shapes_that_do_not_broadcast(x_ptr, i_ptr, n):
    x = tl.arange(0, 8) + tl.arange(0, 16)  # here


@bad("CannotBroadcastTo")
def broadcast_to_another_extent(x_ptr, i_ptr, n):
    x = tl.broadcast_to(tl.arange(0, 8), (16,))  # here


@bad("FloatNeeded", "tl.exp")
def exp_of_an_integer(x_ptr, i_ptr, n):
    x = tl.exp(n)  # here


@bad("BitcastWidth")
def bitcast_between_widths(x_ptr, i_ptr, n):
    x = n.to(tl.float16, bitcast=True)  # here


@bad("RoundingWithoutNarrowing")
def rounding_that_does_not_happen(x_ptr, i_ptr, n):
    x = n.to(tl.float32, fp_downcast_rounding="rtz")  # here
