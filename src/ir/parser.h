// Reads the text form that ir/printer.h writes. For text tests and tools; compilation never parses.
// Types and operand counts are checked as far as reading needs them; ir/verifier.h checks the rest.
#pragma once

#include <memory>
#include <stdexcept>
#include <string_view>

#include "ir/ir.h"

namespace enceladus::ir {

// `LINE:COLUMN: sentence`, counted from 1 in the text.
class ParseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One kernel. Throws ParseError.
std::unique_ptr<Function> parse(std::string_view text);

}  // namespace enceladus::ir
