// Pointers and index tiles that advance evenly.
//
// A loop that carries a pointer or a tile and adds the same to all its elements in each round
// (`a_ptrs += BLOCK_K * stride`) hides from the affine analysis where it points. Takes any tile IR,
// gives the same function where such a value is the one from before the loop plus a scalar offset:
// a multiple of the induction variable where the step does not change, else a carried scalar. Runs
// after licm.h (which shows what does not change) and makes work for fold.h and dce.h.
//
//   for %k = 0 to %K step 32                 for %k = 0 to %K step 32 {
//       carry (%a = %start) {                  %1 = cast %k : i32 -> i64
//     ... load %a ...                   =>     %a = addptr %start, (splat of %1)
//     %next = addptr %a, (splat of 32)         ... load %a ...
//     yield %next                            }
//   }
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything changed.
bool split_carried_offsets(ir::Function& function);

}  // namespace enceladus::transforms
