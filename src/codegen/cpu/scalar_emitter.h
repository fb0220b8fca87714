// Scalar operations: plain LLVM values, in program order.
#pragma once

#include "codegen/cpu/kernel_state.h"

namespace enceladus::cpu {

// Emits an operation whose operands and results are scalars (or a descriptor).
void emit_scalar(KernelState& kernel, const ir::Operation* op);

// A scalar integer as an i64 of unlimited precision: sums and products are followed back and done
// in 64 bits. For offsets, which never wrap.
llvm::Value* exact_integer(KernelState& kernel, const ir::Value* value);

// An integer register (or a vector of them) as i64, by the sign of its dtype.
llvm::Value* widen_to_int64(Emission& emission, llvm::Value* value, DType dtype);

}  // namespace enceladus::cpu
