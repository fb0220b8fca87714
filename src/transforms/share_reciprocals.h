// Quotients of many registers by one. The hardware's quotient is a product with the divisor's
// reciprocal, both sides scaled where the divisor is too great or too small for that; scale and
// reciprocal of a divisor that several registers share are computed once, bit for bit the same.
//
//   %d = splat %sum : f32 -> tile<64xf32>          %a = abs %sum
//   %q = div %x, %d : tile<64xf32>                 %s = select 0.25 .. 2^24 .. 1.0 by %a
//                                           ->     %r = div 1.0, (mul %sum, %s)
//                                                  %y = mul %x, (splat %s)
//                                                  %q = mul %y, (splat %r) : tile<64xf32>
//
// Takes and gives SIMT IR of float32; runs behind slice_stores.h, which would compute the shared
// part panel by panel. Not for math_mode="precise", whose quotients are rounded correctly.
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything changed.
bool share_reciprocals(ir::Function& function);

}  // namespace enceladus::transforms
