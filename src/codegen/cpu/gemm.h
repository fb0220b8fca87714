// The product of two tiles, C (+)= A * B, as one internal function of the module: packs B (or finds
// it packed), walks the blocks of rows and the panels of columns, and runs the whole of K inside
// each block of registers. Serves both `dot` on tiles that lie in scratch and a whole K loop turned
// inside out (lowering/tile_to_loop/dot_loop.h), whose operands are read from the arrays
// themselves. Edges are run-time figures: nothing past them is read, and what lies past them counts
// as zero. Not: loading tiles, masks, or what happens to the results.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen/cpu/gemm_format.h"
#include "codegen/cpu/gemm_pack.h"

namespace enceladus::cpu {

// What C holds before.
enum class GemmStart { kZero, kTile };
// Whether both operands always have all of `depth`, or one may end before (GemmArguments::a_depth).
enum class DepthEdge { kSame, kMayDiffer };
// What becomes of the packed B: forgotten, or kept for the next call with the same B.
enum class PackedOperand { kTemporary, kKept };

struct GemmSpec {
  DType a;
  DType b;
  DType accumulator;  // of C: float32, float64 or int32
  int rows;           // of the tile; at run time there may be fewer
  int columns;
  int64_t depth = 0;                             // K at most, 0 where only run time knows
  int64_t depth_multiple = 1;                    // K is known to be a multiple of it
  OperandOrder a_order = OperandOrder::kDepth;   // kDepth: rows of A are contiguous
  OperandOrder b_order = OperandOrder::kAcross;  // kAcross: rows of B are contiguous
  GemmStart start = GemmStart::kZero;
  DepthEdge depth_edge = DepthEdge::kSame;
  PackedOperand packed_b = PackedOperand::kTemporary;
};

// Run-time figures, i64 and pointers; strides in bytes.
struct GemmArguments {
  llvm::Value* a;  // its element (0, 0)
  llvm::Value* a_row_stride;
  llvm::Value* a_depth_stride;
  llvm::Value* b;
  llvm::Value* b_depth_stride;
  llvm::Value* b_column_stride;
  llvm::Value* rows;     // 0 to spec.rows
  llvm::Value* columns;  // 0 to spec.columns
  llvm::Value* depth;
  llvm::Value* a_depth = nullptr;       // columns of A that exist, at most depth; null: all
  llvm::Value* b_depth = nullptr;       // rows of B that exist
  llvm::Value* c;                       // accumulators, gemm_row_stride(..) bytes a row
  llvm::Value* first_row = nullptr;     // of C, for row 0 of A; null: 0
  llvm::Value* first_column = nullptr;  // of C, for column 0 of B
  llvm::Value* scratch;                 // gemm_scratch_bytes(..), 64-byte aligned
  llvm::Value* generation = nullptr;    // of the launch (support/cpu_abi.h); where B is kept
};

// Bytes from one row of C to the next: the panels may write past the last column, and a stride that
// is no power of two keeps the rows apart in the first cache. Does not depend on K: the product of
// two tiles and the loop over K around it keep their sums in one place, however each multiplies.
int64_t gemm_row_stride(const HostTarget& host, const GemmSpec& spec);
// Bytes of C, with what the last panel writes past its last row.
int64_t gemm_tile_bytes(const HostTarget& host, const GemmSpec& spec);
// Scratch of one dot. Where B is kept, no other part of the kernel may write there; otherwise it
// may be shared between dots.
int64_t gemm_scratch_bytes(const HostTarget& host, const GemmSpec& spec);

// Emits the call. Rows and columns of C that A and B do not have become zero (kZero) or keep their
// value (kTile), except that those of a panel that is begun are multiplied, as columns of zeros.
void emit_gemm(llvm::IRBuilderBase& builder, const HostTarget& host, const GemmSpec& spec,
               const GemmArguments& arguments);

}  // namespace enceladus::cpu
