// From tiles to threads: makes the SIMT IR of a kernel from its optimized tile IR. Every tile
// becomes a register array in each thread, by the layouts of assignment.h; moving one between
// layouts, reducing and scanning become register moves, shuffles and shared memory. Barriers and
// the placement of shared buffers come later (transforms/barriers.h, transforms/shared_memory.h).
#pragma once

#include <memory>

#include "ir/ir.h"
#include "lowering/tile_to_simt/report.h"
#include "lowering/tile_to_simt/target.h"

namespace enceladus::simt {

// The function keeps its name, parameters and options. Throws CompilationFailure for what the
// target does not have and for tiles that no thread can hold.
std::unique_ptr<ir::Function> lower(const ir::Function& tile, const SimtTarget& target,
                                    LoweringReport& report);

}  // namespace enceladus::simt
