// The product of two tiles that lie in scratch, through the tile product of gemm.h. Not: a whole
// loop of products.
#pragma once

#include "codegen/cpu/kernel_state.h"

namespace enceladus::cpu {

// Strides and bytes of the buffer of a product's result.
void set_dot_layout(const HostTarget& host, const ir::Operation* dot, loop::Buffer& buffer);
// Scratch that the product needs besides its operands and result.
int64_t dot_scratch_bytes(const HostTarget& host, const ir::Operation* dot);

void emit_dot(KernelState& kernel, const ir::Operation* dot);

}  // namespace enceladus::cpu
