// One group's epilogue beside the other's products. The two groups of a loop of products go in
// step, since a slot that both read at once takes less energy, but so they end together, and the
// tensor cores have nothing to do while both work on their results. Now the first group runs ahead
// in the loop's last turns, as far as the ring's slots allow, and works on its result while the
// second multiplies; then it begins the next loop's products while the second works on its own.
//
//   %r = for %k = .. {            %far = gt (%end - %start), 6 * %step
//     %s = ring_take %ring        %r = for %k = .. {
//     pace meet                     %s = ring_take %ring
//     %x = wgmma ..          ->     if not %far or at least 3 turns from both ends { pace meet }
//     ..                            if %far and 3 turns are left { pace follow }
//   }                               %x = wgmma ..
//   wgmma_wait {pending = 0}        ..
//   %y = wgmma_result %r          }
//                                 wgmma_wait {pending = 0}
//                                 %y = wgmma_result %r
//                                 if %far { pace lead }
//
// The second group follows when the first one's products are done: started earlier, its own would
// take their time from these. Shorter loops stay in step, so that the groups meet once in each loop
// with a lead and no `lead` overtakes its `follow`. Takes and gives SIMT IR of which the rings have
// their slots (rings.h).
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything changed.
bool group_lead(ir::Function& function);

}  // namespace enceladus::transforms
