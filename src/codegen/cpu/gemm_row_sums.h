// The sign fix of byte products: minus or plus 128 times the sum of each row of A, from which the
// row's accumulators start (gemm_format.h, SignFix). Costs under a hundredth of the product.
#pragma once

#include "codegen/cpu/gemm_micro.h"

namespace enceladus::cpu {

// Writes an int32 for each row of a block to arguments.row_starts (64 bytes). Of `arguments`, A,
// its strides, the last row and the groups are looked at.
void emit_row_sums(llvm::IRBuilderBase& builder, const MicroKernel& kernel,
                   const MicroArguments& arguments);

}  // namespace enceladus::cpu
