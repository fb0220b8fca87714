// Checks that a function is well formed: operands, results and attributes by the rules of ops.def,
// values defined before their uses, regions of the shape their operation needs, power-of-two
// extents. What it reports is a mistake of the compiler, never of the user's program.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"

namespace enceladus::ir {

// One sentence a mistake, each with the operation it is about; empty where all is well.
std::vector<std::string> verify(const Function& function);

}  // namespace enceladus::ir
