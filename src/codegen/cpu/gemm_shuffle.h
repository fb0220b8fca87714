// Register shuffles of packing: rows of a square of vectors turned into its columns, and neighbours
// along K brought together in a lane. Written as LLVM shuffles whose masks are the unpack, blend
// and insert instructions of x86 and the zip and trn instructions of ARM.
#pragma once

#include "codegen/cpu/ir_loops.h"

namespace enceladus::cpu {

// The transpose of `rows`: as many vectors as each has lanes, of 4 or 8 bytes a lane.
Values emit_transpose(llvm::IRBuilderBase& builder, llvm::ArrayRef<llvm::Value*> rows);

// One, two or four vectors a, b, .. of one type as a0 b0 .. a1 b1 .. a2 b2 ..
llvm::Value* emit_interleave(llvm::IRBuilderBase& builder, llvm::ArrayRef<llvm::Value*> parts);

}  // namespace enceladus::cpu
