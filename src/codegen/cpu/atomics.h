// Atomic operations, element by element in lane order.
#pragma once

#include "codegen/cpu/kernel_state.h"

namespace enceladus::cpu {

// `operands` are the operation's, in registers: all scalars, or all vectors (null where absent).
// Returns the old values, 0 where masked off; null for additions to a tally (tallies.h).
llvm::Value* emit_atomic(KernelState& kernel, const ir::Operation* op,
                         llvm::ArrayRef<llvm::Value*> operands);

// Where the mask stands among the operands of an atomic operation.
int mask_operand(const ir::Operation* atomic);

}  // namespace enceladus::cpu
