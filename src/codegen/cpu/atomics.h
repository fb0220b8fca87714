// Atomic operations, element by element in lane order.
#pragma once

#include "codegen/cpu/kernel_state.h"

namespace enceladus::cpu {

// `operands` are the operation's, in registers: all scalars, or all vectors (null where absent).
// Returns the old values, 0 where masked off.
llvm::Value* emit_atomic(KernelState& kernel, const ir::Operation* op,
                         llvm::ArrayRef<llvm::Value*> operands);

}  // namespace enceladus::cpu
