// Products of a kernel, through the tile product of gemm.h: of two tiles that lie in scratch, and
// whole loops of products whose operands lie in arrays (dot_loop_emitter.h).
#pragma once

#include "codegen/cpu/kernel_state.h"

namespace enceladus::cpu {

// Strides and bytes of the buffer of a product's result.
void set_dot_layout(const HostTarget& host, const ir::Operation* dot, loop::Buffer& buffer);
// Scratch that the product needs besides its operands and result.
int64_t dot_scratch_bytes(const HostTarget& host, const ir::Operation* dot);

// The product of two tiles.
GemmSpec dot_spec(const ir::Operation* dot);
void emit_dot(KernelState& kernel, const ir::Operation* dot);

// The same for the loop over K that holds `dot`, where it runs as the product `spec`.
int64_t dot_loop_scratch_bytes(const HostTarget& host, const ir::Operation* dot,
                               const GemmSpec& spec);
// `index` into Plan::dot_loops.
void emit_dot_loop(KernelState& kernel, int index);

}  // namespace enceladus::cpu
