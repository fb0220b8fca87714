// What `kernel.explain` shows of a CPU kernel beyond its cost: where each tile lives, what each
// access moves, how each product is computed.
#pragma once

#include <string>

#include "codegen/cpu/host_target.h"
#include "ir/ir.h"
#include "lowering/tile_to_loop/plan.h"

namespace enceladus::cpu {

// A JSON object; enceladus/explain.py renders it. `plan` is the function's.
std::string explain_kernel(const ir::Function& function, const loop::Plan& plan,
                           const HostTarget& host);

}  // namespace enceladus::cpu
