// Common subexpressions.
//
// Takes any tile IR, gives the same function with each value computed once where one computation is
// visible from the other. Two loads are the same when no write stands between them. Runs after
// fold.h, which writes equal things equally, and before licm.h.
//
//   %2 = add %0, %1 : i32             %2 = add %0, %1 : i32
//   %3 = add %0, %1 : i32      =>     %4 = mul %2, %2 : i32
//   %4 = mul %2, %3 : i32
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything was merged.
bool merge_common_subexpressions(ir::Function& function);

}  // namespace enceladus::transforms
