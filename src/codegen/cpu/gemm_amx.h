// The innermost function of a matrix product on Intel's AMX: the same block of results as
// gemm_micro.h, held in tiles of 16 rows x 16 lanes while K runs, A's rows loaded straight from
// memory, B from the same packed panels [K groups][vectors * lanes]. Tiles are named by number in
// the IR: nothing allocates or spills them, and all of a product shares one setup. Not: packing,
// the walk over blocks (gemm.h), whether AMX is there (host_target.h).
#pragma once

#include "codegen/cpu/gemm_micro.h"
#include "codegen/cpu/gemm_pack.h"

namespace enceladus::cpu {

// Shapes the tiles for whole blocks; what they held is lost. The tiles are this thread's until
// emit_amx_release, behind which the system has no more to save for it.
void emit_amx_setup(llvm::IRBuilderBase& builder, const RegisterBlock& block);
// The same for a block that ends with row `last_row`, by way of the 64 bytes at `place`.
void emit_amx_setup(llvm::IRBuilderBase& builder, const RegisterBlock& block, llvm::Value* last_row,
                    llvm::Value* place);
void emit_amx_release(llvm::IRBuilderBase& builder);

// Behind a setup for the same block and last row. `groups` is a multiple of kAmxRows; the strides
// along K and row_starts are not looked at, and no element past `last_row` is touched.
void emit_amx_call(llvm::IRBuilderBase& builder, const MicroKernel& kernel,
                   const MicroArguments& arguments);

// A panel of `packing`, [groups][width], written as `width` rows of groups, `stride` bytes apart.
void emit_turned_panel(llvm::IRBuilderBase& builder, const Packing& packing, llvm::Value* panel,
                       llvm::Value* groups, llvm::Value* target, llvm::Value* stride);

}  // namespace enceladus::cpu
