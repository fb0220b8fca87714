// Folding and canonical forms, operation by operation in program order.
//
// Takes any tile IR, gives the same function with constants computed, operations without effect
// dropped and equal things written in one way:
//   - a constant operand of a commutative operation is the second, a tile of equal elements too;
//   - operations on tiles of equal elements are done once, on scalars: op(splat a, splat b) becomes
//     splat(op(a, b));
//   - uniform parts of integer sums meet: (x + splat a) + splat b becomes x + splat(a + b), and
//     those of pointers go to the base: (splat p + x) + splat a becomes splat(p + a) + x.
// Runs first, because it makes what the other passes look for, and again whenever they made new
// constants. Every result has the very bits that run time would give (ir/evaluate.h); floats are
// never reassociated.
//
//   %1 = constant 3 : i32                    %1 = constant 12 : i32
//   %2 = constant 4 : i32             =>     %2 = splat %1 : i32 -> tile<8xi32>
//   %3 = mul %1, %2 : i32                    store %p, %2
//   %4 = splat %3 : i32 -> tile<8xi32>
//   store %p, %4, mask = (true)
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything changed. Constants that are left without users stay (dce.h).
bool fold(ir::Function& function);

}  // namespace enceladus::transforms
