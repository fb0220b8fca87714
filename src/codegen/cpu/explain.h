// What `kernel.explain` shows of a CPU kernel beyond its cost: where each tile lives, what each
// access moves, how each product is computed.
#pragma once

#include <string>

#include "codegen/cpu/dot_loop_places.h"
#include "ir/ir.h"
#include "lowering/tile_to_loop/plan.h"

namespace enceladus::cpu {

// A JSON object; enceladus/explain.py renders it. `plan` and `dot_loops` are the function's.
std::string explain_kernel(const ir::Function& function, const loop::Plan& plan,
                           const DotLoopPlaces& dot_loops, const HostTarget& host);

}  // namespace enceladus::cpu
