// The type rules that the strings of ops.def cannot state: those of operations whose results are
// `given`, and of the operands these depend on. Part of the verifier.
#pragma once

#include <string>
#include <string_view>

#include "ir/ir.h"

namespace enceladus::ir {

// The message where a rule does not hold.
inline std::string unless(bool holds, std::string_view message) {
  return holds ? std::string() : std::string(message);
}

// What is wrong with the operation's types, or an empty string. The operands satisfy their own
// rules of ops.def and the required attributes are there.
std::string check_given_types(const Operation& op);

// A tile's extents are powers of two and it has at most kMaxElements. (Users' extents end at
// kMaxExtent; the flat form of a large tile does not.)
std::string check_extents(const Type& type);

}  // namespace enceladus::ir
