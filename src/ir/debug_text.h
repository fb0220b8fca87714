// The texts of device_print and device_assert, the same on every target. Not: values and indices,
// which the target's code adds.
#pragma once

#include <string>

#include "ir/ir.h"

namespace enceladus::ir {

// What stands between an element's index and value `part` of a device_print, as the interpreter
// prints it: a space before, and ": " behind where values follow.
std::string print_label(const Operation& print, int part);

// `file:line` of an operation.
std::string place_of(const Operation& op);

// `file:line: assertion failed: message`.
std::string assertion_text(const Operation& assertion);

}  // namespace enceladus::ir
