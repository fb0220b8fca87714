// What a device_print writes, as a printf format and its arguments: the same line on every target.
// Not: how a target prints.
#pragma once

#include <string>
#include <string_view>

#include "support/dtype.h"

namespace enceladus::codegen {

// A conversion of printf and the argument it takes.
struct Printed {
  std::string conversion, argument;
};
Printed printed_number(DType dtype, const std::string& value);
Printed printed_hex(DType dtype, const std::string& value);

// The text within a format string within a string literal.
std::string escaped_format(std::string_view text);

}  // namespace enceladus::codegen
