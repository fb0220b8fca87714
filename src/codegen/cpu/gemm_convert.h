// Loads of operands of a matrix product with the conversion to the type that is multiplied. Only
// exact conversions: to a wider float or integer, or a byte's sign flipped (gemm_format.h,
// SignFix).
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen/cpu/gemm_pack.h"

namespace enceladus::cpu {

// The LLVM type that a packed element is handled as: bfloat16 as its 16 bits.
llvm::Type* packed_type(llvm::LLVMContext& context, DType dtype);
// `count` consecutive elements (a scalar where count is 1) as packed elements.
llvm::Value* emit_load_packed(llvm::IRBuilderBase& builder, const Packing& packing,
                              llvm::Value* pointer, int count);

}  // namespace enceladus::cpu
