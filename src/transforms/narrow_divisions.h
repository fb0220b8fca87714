// Integer divisions in 32 bits, and without signs, where ranges allow it.
//
// Takes SIMT IR, gives the same function where a quotient or remainder of 64-bit integers whose
// dividend fits 32 bits is computed in 32: a divisor beyond that range is larger than any such
// dividend, and so is the range's end in its place. What is never negative is divided as unsigned.
// GPUs have no instruction for a division: 64 bits take about a hundred, 32 about thirty, 32
// unsigned twenty, and the assembler's time goes with them. Runs before narrow_offsets, which finds
// the narrow numbers then. Divisions by constants stay: they become multiplications. The
// former operations are dead (dce.h).
//
//   %q = div %id, %columns : i64       %a = cast %id : i64 -> i32
//                                  =>  %1 = max %columns, -2147483647; %2 = min %1, 2147483647
//                                      %b = cast %2 : i64 -> i32
//                                      %3 = div %a, %b : i32
//                                      %q = cast %3 : i32 -> i64
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything changed.
bool narrow_divisions(ir::Function& function);

}  // namespace enceladus::transforms
