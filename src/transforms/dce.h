// Dead code, dead carried values and dead results of branches.
//
// Takes any tile IR, gives the same function without operations that nothing needs: what does not
// reach a store, an atomic, a print or an assertion. Loads are not needed for themselves. A value
// carried around a loop goes when only its own next round uses it. Runs after every pass that
// leaves operations behind; one marking walk and one sweeping walk.
//
//   %a, %b = for ... carry (%x = %0, %y = %1) : (f32, i32) {      %a = for ... carry (%x = %0) :
//   (f32) {
//     %2 = add %y, %1 : i32                                   =>    %3 = mul %x, %x : f32
//     %3 = mul %x, %x : f32                                         yield %3
//     yield %3, %2                                                }
//   }
//   store %p, %a                                                  store %p, %a
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything was removed.
bool remove_dead_code(ir::Function& function);

}  // namespace enceladus::transforms
