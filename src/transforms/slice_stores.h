// An epilogue is computed piece by piece: what a kernel makes of a product's result right before it
// stores it panel by panel is made panel by panel, too. Registers are free sooner, and one panel's
// copy runs while the next one is computed.
//
//   %x = add %sum, %bias : tile<128xf32>           %s = registers %sum {register_map = [0, .. 31]}
//   %p = registers %x {register_map = [0, .. 31]}  %b = registers %bias {register_map = [0, .. 31]}
//   store_matrix %buffer, %at, %p             ->   %p = add %s, %b : tile<32xf32>
//   ..                                             store_matrix %buffer, %at, %p
//
// Takes and gives SIMT IR; runs behind the lowering.
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything changed.
bool slice_stores(ir::Function& function);

}  // namespace enceladus::transforms
