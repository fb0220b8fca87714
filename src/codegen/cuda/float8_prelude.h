// The helper functions of a kernel's text for floats of 8 bits: conversions by the instructions of
// sm_89 and later, else by bits, and the product of two fragments. Not: when they are called.
#pragma once

#include <string>

#include "codegen/cuda/async_prelude.h"
#include "ir/opcode.h"
#include "support/dtype.h"

namespace enceladus::cuda {

AsyncText widen_float8_function(DType from);
AsyncText narrow_float8_function(DType to, ir::Rounding rounding);
// Of two neighbours: `name(To* to, uchar a, uchar b)`, and `name(uchar* to, float a, float b)`.
// They call the functions of one, behind whose names theirs come in order.
AsyncText widen_float8_pair_function(DType from, DType to);
AsyncText narrow_float8_pair_function(DType to);

// The body of a function of (float* d, const uchar* a, const uchar* b) that does with two products
// of float16 what m16n8k32 does with floats of 8 bits: within a word the order of the depth is
// free.
std::string float8_product_of_halves(DType a, DType b);

}  // namespace enceladus::cuda
