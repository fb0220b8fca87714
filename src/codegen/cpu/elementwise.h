// One elementwise operation on register values: scalars, or vectors of equal lanes. Not: where
// operands come from, nor pointers' arithmetic (lane_evaluator.h).
#pragma once

#include "codegen/cpu/emission.h"

namespace enceladus::cpu {

// Everything of class Elementwise but addptr and hint. The operands' element types are those of
// the operation's.
llvm::Value* emit_elementwise(Emission& emission, const ir::Operation* op,
                              llvm::ArrayRef<llvm::Value*> operands);

// The smaller or larger of two values; NaN is ignored unless both are, or propagated.
enum class NanRule : uint8_t { kIgnore, kPropagate };
llvm::Value* emit_extremum(Emission& emission, DType dtype, bool is_max, NanRule nan_rule,
                           llvm::Value* a, llvm::Value* b);

// A value or a tile of one: `left op right` for the kinds that are plain operations, unrounded.
llvm::Value* emit_combine(Emission& emission, ir::CombineKind kind, DType dtype, NanRule nan_rule,
                          llvm::Value* left, llvm::Value* right);
// What leaves every other value of the dtype as it is under `kind`.
llvm::Constant* combine_identity(llvm::LLVMContext& context, ir::CombineKind kind, DType dtype,
                                 NanRule nan_rule);

}  // namespace enceladus::cpu
