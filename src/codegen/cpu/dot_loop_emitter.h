// Writes out a loop over K that was turned inside out (lowering/tile_to_loop/dot_loop.h): works out
// at run time where the operands lie and how far they reach, and calls emit_gemm.
#pragma once

#include "codegen/cpu/gemm.h"
#include "lowering/tile_to_loop/dot_loop.h"

namespace enceladus::cpu {

// The register of a scalar of the tile IR.
using ScalarLookup = llvm::function_ref<llvm::Value*(const ir::Value*)>;

// The sum in 64 bits, each factor widened by its own sign.
llvm::Value* emit_sum(llvm::IRBuilderBase& builder, const analysis::Sum& sum, ScalarLookup scalar);

// The product that the loop becomes. `packed_b` says whether B may be kept between programs: only
// where nothing in the launch writes it.
GemmSpec gemm_of(const loop::DotLoop& plan, const analysis::Facts& facts, PackedOperand packed_b);

struct DotLoopPlace {
  llvm::Value* tile;        // the accumulator, laid out as emit_gemm wants it
  llvm::Value* scratch;     // gemm_scratch_bytes
  llvm::Value* generation;  // of the launch; null unless B is kept
};

void emit_dot_loop(llvm::IRBuilderBase& builder, const HostTarget& host, const GemmSpec& spec,
                   const loop::DotLoop& plan, const DotLoopPlace& place, ScalarLookup scalar);

}  // namespace enceladus::cpu
