// The type and attribute rules of the operations of async_ops.def. Part of the verifier, beside
// simt_rules.h.
#pragma once

#include <string>

#include "ir/ir.h"

namespace enceladus::ir {

// What is wrong with the operation, or an empty string.
std::string check_async(const Operation& op);

}  // namespace enceladus::ir
