// Writes a group out as a loop nest: the outer loops, the innermost one (in a part whose masks are
// known to be true and a part with masks, where there are such masks), and in its body the roots.
#pragma once

#include "codegen/cpu/kernel_state.h"

namespace enceladus::cpu {

void emit_group(KernelState& kernel, const loop::Group& group);

}  // namespace enceladus::cpu
