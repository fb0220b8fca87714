// Writes the items of a region out in program order; control operations become blocks and phis.
// Scalars that control flow carries are phis, tiles lie in scratch.
#pragma once

#include "codegen/cpu/kernel_state.h"

namespace enceladus::cpu {

void emit_region(KernelState& kernel, const ir::Region& region);

}  // namespace enceladus::cpu
