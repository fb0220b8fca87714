# ruff: noqa
"""Shapes, axes, memory, reductions, dots and descriptors that do not fit."""

import enceladus
import enceladus.language as tl

from .registry import bad


@enceladus.jit
def compare(a, b):
    return a > b


@enceladus.jit
def pair(a, b):
    return a, b


@bad("NotPowerOfTwo", "next_power_of_2")
def extent_of_twelve(x_ptr, i_ptr, n):
    x = tl.arange(0, 12)  # here


@bad("ExtentTooLarge", "65536")
def extent_too_large(x_ptr, i_ptr, n):
    x = tl.arange(0, 131072)  # here


@bad("TileTooLarge")
def tile_too_large(x_ptr, i_ptr, n):
    x = tl.zeros((4096, 4096), tl.float32)  # here


@bad("RankTooLarge")
def rank_too_large(x_ptr, i_ptr, n):
    x = tl.zeros((1, 1, 1, 1, 1, 1, 1, 1, 1, 1), tl.float32)  # here


@bad("PointerNeeded", "tl.load")
def load_of_a_number(x_ptr, i_ptr, n):
    x = tl.load(n)  # here


@bad("MaskType", "offsets < n")
def mask_of_integers(x_ptr, i_ptr, n):
    x = tl.load(x_ptr, mask=n)  # here


@bad("OtherWithoutMask")
def other_without_mask(x_ptr, i_ptr, n):
    x = tl.load(x_ptr, other=0.0)  # here


@bad("BlockPointerOption")
def boundary_check_of_a_plain_pointer(x_ptr, i_ptr, n):
    x = tl.load(x_ptr, boundary_check=(0,))  # here


@bad("AtomicType")
def bitwise_atomic_of_a_float(x_ptr, i_ptr, n):
    tl.atomic_and(x_ptr, 1.0)  # here


@bad("ReshapeCount")
def reshape_to_another_count(x_ptr, i_ptr, n):
    x = tl.reshape(tl.arange(0, 8), (4, 4))  # here


@bad("NotAPermutation")
def permutation_with_a_repetition(x_ptr, i_ptr, n):
    x = tl.permute(tl.zeros((4, 8), tl.int32), (0, 0))  # here


@bad("TransposeRank")
def transpose_of_one_dimension(x_ptr, i_ptr, n):
    x = tl.trans(tl.arange(0, 8))  # here


@bad("AxisOutOfRange")
def axis_out_of_range(x_ptr, i_ptr, n):
    x = tl.sum(tl.arange(0, 8), axis=1)  # here


@bad("AxisTwice")
def axis_twice(x_ptr, i_ptr, n):
    x = tl.expand_dims(tl.arange(0, 8), (1, 1))  # here


@bad("CombineCount")
def combine_function_of_two_results(x_ptr, i_ptr, n):
    x = tl.reduce(tl.arange(0, 8), 0, pair)  # here


@bad("CombineType", "int1")
def combine_function_of_another_type(x_ptr, i_ptr, n):
    x = tl.reduce(tl.arange(0, 8), 0, compare)  # here


@enceladus.jit
def sum_by_a_loop(a, b):
    for i in range(b):
        a += 1
    return a


@enceladus.jit
def sum_of_program(a, b):
    return a + b + tl.program_id(0)


@bad("CombineOperation", "a loop")
def combine_function_with_a_loop(x_ptr, i_ptr, n):
    x = tl.reduce(tl.arange(0, 8), 0, sum_by_a_loop)


@bad("CombineOperation", "`program_id`")
def combine_function_that_looks_around(x_ptr, i_ptr, n):
    x = tl.associative_scan(tl.arange(0, 8), 0, sum_of_program)


@bad("DotRank")
def dot_of_vectors(x_ptr, i_ptr, n):
    x = tl.zeros((16,), tl.float32)
    y = tl.dot(x, x)  # here


@bad("DotInnerSizes", "`a` has 16 columns but `b` has 32 rows")
def dot_of_unequal_inner_sizes(x_ptr, i_ptr, n):
    y = tl.dot(tl.zeros((16, 16), tl.float32), tl.zeros((32, 16), tl.float32))  # here


@bad("DotTypes", "float16")
def dot_of_two_types(x_ptr, i_ptr, n):
    y = tl.dot(tl.zeros((16, 16), tl.float32), tl.zeros((16, 16), tl.float16))  # here


@bad("DotSmallK", "pad")
def dot_of_small_depth(x_ptr, i_ptr, n):
    y = tl.dot(tl.zeros((16, 4), tl.float32), tl.zeros((4, 16), tl.float32))  # here


@bad("DotAccumulator")
def dot_into_integers(x_ptr, i_ptr, n):
    x = tl.zeros((16, 16), tl.float32)
    y = tl.dot(x, x, tl.zeros((16, 16), tl.int32))  # here


@bad("DotAccumulatorShape")
def dot_into_another_shape(x_ptr, i_ptr, n):
    x = tl.zeros((16, 16), tl.float32)
    y = tl.dot(x, x, tl.zeros((16, 32), tl.float32))  # here


@bad("DescriptorRanks")
def descriptor_of_two_ranks(x_ptr, i_ptr, n):
    x = tl.make_tensor_descriptor(x_ptr, [n, n], [1], [8, 8])  # here


@bad("LastStride", "must be the constant 1")
def last_stride_of_two(x_ptr, i_ptr, n):
    x = tl.make_tensor_descriptor(x_ptr, [n, n], [n, 2], [8, 8])  # here


@bad("PaddingOfIntegers")
def nan_padding_of_integers(x_ptr, i_ptr, n):
    x = tl.make_tensor_descriptor(i_ptr, [n], [1], [8], padding_option="nan")  # here


@bad("OffsetCount")
def offsets_of_another_rank(x_ptr, i_ptr, n):
    x = tl.make_tensor_descriptor(x_ptr, [n], [1], [8])
    y = x.load([0, 0])  # here


@bad("BlockShape")
def stored_tile_of_another_shape(x_ptr, i_ptr, n):
    x = tl.make_tensor_descriptor(x_ptr, [n], [1], [8])
    x.store([0], tl.zeros((16,), tl.float32))  # here


@bad("GatherBlock")
def gather_from_tall_blocks(x_ptr, i_ptr, n):
    x = tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [8, 8])
    y = x.gather(tl.arange(0, 8), 0)  # here
