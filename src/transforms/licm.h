// Loop-invariant code.
//
// Takes any tile IR, gives the same function with pure operations moved in front of the loops in
// which their operands do not change. Pure operations never fail (division by zero is defined), so
// that they may run where the loop does not. Loads stay: what they read may not be theirs to read
// when the loop does not run. Runs after cse.h; inner loops first.
//
//   for %i = %0 to %n step %1 {            %2 = mul %a, %b : i32
//     %2 = mul %a, %b : i32         =>     for %i = %0 to %n step %1 {
//     %3 = add %2, %i : i32                  %3 = add %2, %i : i32
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything moved.
bool hoist_loop_invariants(ir::Function& function);

}  // namespace enceladus::transforms
