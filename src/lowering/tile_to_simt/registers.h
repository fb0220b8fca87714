// How many registers a thread needs for a tile, and the limits on that: a GPU spills to memory what
// does not fit, at a large cost.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"
#include "lowering/tile_to_simt/assignment.h"

namespace enceladus::simt {

// Elements times 32-bit words an element, over the program's threads; 1 at least.
int64_t registers_per_thread(const ir::Type& tile, int num_warps);

// Looks at every tile that threads hold. Throws CompilationFailure where one takes more than 256
// registers; gives a sentence for the largest one where it takes more than 128.
std::vector<std::string> check_registers(const ir::Function& function,
                                         const Assignment& assignment);

}  // namespace enceladus::simt
