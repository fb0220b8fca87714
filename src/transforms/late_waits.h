// What does not need an asynchronous product happens before the wait for it: loads of a bias or a
// scale behind a loop of products take their time while the last products run.
//
//   wgmma_wait {pending = 0}                    %2 = load %bias
//   %1 = wgmma_result %sum                ->    shared_store %buffer, %at, %2
//   %2 = load %bias                             wgmma_wait {pending = 0}
//   shared_store %buffer, %at, %2               %1 = wgmma_result %sum
//   %3 = add %1, ..                             %3 = add %1, ..
//
// Where the wait stands behind a loop, such loads are made before the loop, as far as 32 registers
// of a thread hold them: the caches answer slowly while rings are filled, and a last product is
// short.
//
// Takes and gives SIMT IR; runs before shared memory is placed and barriers are set, since it moves
// accesses to shared memory.
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything changed.
bool late_waits(ir::Function& function);

}  // namespace enceladus::transforms
