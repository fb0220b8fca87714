// Conversions between float and the floats of 8 bits, as functions of the C family: integers
// computed from bits, so that neither denormal numbers nor a math mode matter. A value is rounded
// once; beyond the largest finite value it becomes that, infinities too; NaN stays NaN. Not: the
// words in front of a function, and instructions that do the same.
#pragma once

#include <string>

#include "ir/opcode.h"
#include "support/dtype.h"

namespace enceladus::codegen {

// `f8e4m3`, as in the names of functions.
std::string float8_name(DType dtype);

std::string widen_float8_name(DType from);
std::string narrow_float8_name(DType to, ir::Rounding rounding);

// The statements of a function of `a`, which is a uchar or a float; each ends a line.
std::string widen_float8_body(DType from);
std::string narrow_float8_body(DType to, ir::Rounding rounding);

// The functions behind their result's type: `enc_from_f8e4m3(uchar a) {...}`.
std::string widen_float8_text(DType from);
std::string narrow_float8_text(DType to, ir::Rounding rounding);

}  // namespace enceladus::codegen
