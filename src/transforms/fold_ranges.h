// What value ranges decide.
//
// Takes any tile IR, gives the same function where an integer that has one possible value is that
// constant and a comparison that always comes out the same is decided: masks of blocks that lie
// surely inside or outside are gone (fold.h then drops them from loads and stores). Also `min`,
// `max`, `rem` and `div` that change nothing. Runs late, when loops and offsets have their final
// form.
//
//   %0 = arange {start = 0} : tile<64xi32>
//   %1 = constant 64 : tile<64xi32>           %mask = constant true : tile<64xi1>
//   %mask = lt %0, %1 : tile<64xi32>     =>   %x = load %p, mask = %mask
//   %x = load %p, mask = %mask
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything changed.
bool fold_ranges(ir::Function& function);

}  // namespace enceladus::transforms
