// Branches and loops that are decided.
//
// Takes any tile IR, gives the same function where an `if` with a constant condition is the branch
// taken, a `for` that runs no or one round is gone, and a value that is carried unchanged is the
// value from before the loop. Runs after fold.h (which makes the constants) and before it again.
//
//   %1 = constant true : i1
//   %2 = if %1 : (f32) {             store %p, %a
//     yield %a                =>
//   } else {
//     yield %b
//   }
//   store %p, %2
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything changed.
bool simplify_control(ir::Function& function);

}  // namespace enceladus::transforms
