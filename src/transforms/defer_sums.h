// Sums over lanes that a loop adds up are made once behind it. A running sum of which each turn
// adds what the warp's lanes hold together (the row sums of online softmax) needs the lanes'
// exchange in no turn: each lane adds up its own part, and the parts come together behind the loop.
// The running sum may be scaled in each turn by what the lanes agree on.
//
//   %r = for .. carry (%sum = 0) {                  %p = for .. carry (%part = 0) {
//     %scaled = mul %sum, %s                           %scaled = mul %part, %s
//     %other = shuffle_xor %x {mask = 1}        ->     %next = add %scaled, %x
//     %row = add %x, %other                            yield %next
//     %next = add %scaled, %row                      }
//     yield %next                                    %other = shuffle_xor %p {mask = 1}
//   }                                                %r = add %p, %other
//
// Takes and gives SIMT IR; runs right behind the lowering. Not for math_mode="precise": the sum is
// rounded elsewhere.
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything changed.
bool defer_sums(ir::Function& function);

}  // namespace enceladus::transforms
