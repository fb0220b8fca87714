// The words of the Metal Shading Language: type names, literals, reserved words. Not: statements.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/ir.h"

namespace enceladus::metal {

// `float`, `uchar`; booleans are `bool` in registers and `uchar` in memory.
std::string_view type_name(DType dtype);
std::string_view memory_type_name(DType dtype);
// `float4`, `uchar2`; the type itself for 1.
std::string vector_name(std::string_view type, int64_t elements);

// A literal of exactly these bits.
std::string literal(DType dtype, uint64_t bits);
std::string integer_literal(DType dtype, int64_t value);

// Keywords, types, functions and attributes that a kernel's names keep clear of.
std::span<const std::string_view> reserved_words();

}  // namespace enceladus::metal
