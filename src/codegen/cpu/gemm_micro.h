// The innermost function of a matrix product on vectors (gemm_amx.h: on AMX tiles): a block of rows
// x vectors results held in registers while K runs, A broadcast lane by lane from where it lies, B
// read from a packed panel [K groups][vectors * lanes]. One internal function of the module per
// shape, shared by every dot of the kernel. Not: packing (gemm_pack.h), the walk over the blocks of
// a tile (gemm.h).
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/cpu/gemm_format.h"

namespace enceladus::cpu {

// Where the next group of K of a row of A stands.
enum class DepthStep {
  kAdjacent,  // right behind this one
  kStrided,   // a_depth_stride further: A lies packed as [K groups][rows]
};

struct MicroKernel {
  GemmFormat format;
  int rows;
  int vectors;
  DepthStep a_step = DepthStep::kAdjacent;

  std::string name() const;
};

// Strides are in bytes. A row stands at a + min(row, last_row) * a_row_stride, its groups of K
// a_depth_stride apart; rows past `last_row` repeat it, so that nothing outside A or C is touched.
struct MicroArguments {
  llvm::Value* groups = nullptr;  // of K, rounded up
  llvm::Value* a = nullptr;
  llvm::Value* a_row_stride = nullptr;
  llvm::Value* a_depth_stride = nullptr;  // ignored where groups are adjacent
  llvm::Value* last_row = nullptr;
  llvm::Value* b = nullptr;
  llvm::Value* c = nullptr;  // accumulators, rows of whole vectors
  llvm::Value* c_row_stride = nullptr;
  llvm::Value* row_starts =
      nullptr;  // int32 a row, added to its accumulators; null without a sign fix
  llvm::Value* accumulate = nullptr;  // i1: start from C rather than from zero
};

void emit_micro_call(llvm::IRBuilderBase& builder, const MicroKernel& kernel,
                     const MicroArguments& arguments);

// The type of a vector of accumulators, and of one lane of operands.
llvm::FixedVectorType* accumulator_vector(llvm::LLVMContext& context, const GemmFormat& format);
// acc + a * b in the format's way; `a` and `b` are vectors of lanes (accumulator_vector's shape).
llvm::Value* emit_multiply_add(llvm::IRBuilderBase& builder, const GemmFormat& format,
                               llvm::Value* a, llvm::Value* b, llvm::Value* sum);
// A new internal function without unwinding, or the module's own of that name (then `is_new` is
// false and it has its body already).
struct InternalFunction {
  llvm::Function* function;
  bool is_new;
};
InternalFunction internal_function(llvm::Module& module, const std::string& name,
                                   llvm::ArrayRef<llvm::Type*> parameters);

}  // namespace enceladus::cpu
