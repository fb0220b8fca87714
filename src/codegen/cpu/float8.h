// Conversions between float32 and the floats of 8 bits in integer arithmetic, which every host has
// in vectors. A value is rounded once; beyond the largest finite value it becomes that, infinities
// too; NaN stays NaN. Not: the choice of what to convert (casts.h, gemm_convert.h).
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "ir/opcode.h"
#include "support/dtype.h"

namespace enceladus::cpu {

// Scalars or vectors of the 8 bits, and of float32.
llvm::Value* widen_float8(llvm::IRBuilderBase& builder, llvm::Value* bits, DType from);
llvm::Value* narrow_to_float8(llvm::IRBuilderBase& builder, llvm::Value* value, DType to,
                              ir::Rounding rounding);

}  // namespace enceladus::cpu
