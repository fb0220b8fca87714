// Offsets of 32 bits where the arrays are small (FunctionOptions::arrays_small).
//
// Takes SIMT IR, gives the same function where register arrays of pointers are a parameter plus one
// int32 offset. An element that is accessed lies within 2^31 elements of its parameter, so that the
// sum of all offsets on the way there, taken modulo 2^32, is its offset exactly; elements that are
// masked off may get any address. GPUs compute 64-bit integers from pairs of registers. Runs behind
// the lowering, when the vectors of accesses are chosen; what the 64-bit chains leave behind is
// dead.
//
//   %base = addptr %x, %start : ptr<f32>, i64          %0 = cast %start : i64 -> i32
//   %b = splat %base                             =>    %1 = splat %0
//   %p = addptr %b, %rows : tile<4xi64>                %2 = add %1, %narrow : tile<4xi32>
//                                                      %p = addptr splat(%x), %2
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything changed. Does nothing where arrays may be large.
bool narrow_offsets(ir::Function& function);

}  // namespace enceladus::transforms
