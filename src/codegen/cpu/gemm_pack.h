// Packing: operands of a matrix product are brought into panels [K groups][width lanes], the order
// in which the micro-kernel reads them, converted to the type it multiplies, `group` consecutive
// elements of K in a lane, zero past the operand's edge. B is packed so; so is A when its rows are
// not contiguous. Rows of A that only have to change type are copied row by row. Nothing past an
// edge is read. One internal function of the module per way of packing.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string>

#include "support/dtype.h"

namespace enceladus::cpu {

// Which neighbours of an operand are adjacent in memory.
enum class OperandOrder {
  kAcross,   // those along the panel's width (columns of B, rows of A)
  kDepth,    // those along K
  kStrided,  // neither, or not known: packed element by element
};

struct Packing {
  DType source;                // in memory
  DType packed;                // in the panel
  int group;                   // elements of K in a lane
  int lanes;                   // of a vector of the host, a power of two
  int width;                   // lanes of a panel; for kDepth a multiple of `lanes`
  bool flips_top_bit = false;  // adds 128 to signed bytes, or takes it from unsigned ones
  OperandOrder order = OperandOrder::kAcross;

  int lane_bytes() const { return group * byte_size(packed); }
  // Between panels, whose last row may be written past its width.
  int panel_gap_bytes() const { return width % lanes == 0 ? 0 : lanes * lane_bytes(); }
  std::string name() const;
};

// Strides are in bytes. `valid_depth` of `depth` elements along K exist, the rest is zero; `depth`
// is rounded up to whole groups. Where a panel is no multiple of the vector, whole vectors are read
// as long as `readable` says that their elements exist, and the target has room for one more
// vector.
struct PackArguments {
  llvm::Value* source;
  llvm::Value* depth_stride;
  llvm::Value* across_stride;
  llvm::Value* valid_depth;
  llvm::Value* depth;
  llvm::Value* extent;    // columns of B, rows of A
  llvm::Value* readable;  // that exist from `source` on, at least extent
  llvm::Value* target;
};

// Writes ceil(extent / width) panels of ceil(depth / group) * width lanes and a gap each.
void emit_pack(llvm::IRBuilderBase& builder, const Packing& packing,
               const PackArguments& arguments);

// Copies `extent` rows whose neighbours along K are adjacent, converted, `target_stride` bytes
// apart, zero from valid_depth to depth rounded up to whole groups. Only the types and `group` of
// `packing` are looked at.
void emit_copy_rows(llvm::IRBuilderBase& builder, const Packing& packing,
                    const PackArguments& arguments, llvm::Value* target_stride);

}  // namespace enceladus::cpu
