// Sigmoids of the device's short functions. What a sigmoid keeps of its exponential's relative
// error is far below its own last place until it nears 0, where api.md 2.1 asks for absolute
// accuracy: so the power of two of a rounded product serves, half the instructions of an
// exponential within a few ulp.
//
//   %1 = neg %x                                  %1 = mul %x, -1.44269504
//   %2 = exp %1                                  %2 = exp2 %1
//   %3 = add %2, 1.0                       ->    %3 = add %2, 1.0
//   %4 = div 1.0, %3                             %4 = div 1.0, %3
//
// The error is below 2e-8 besides the rounding of sum and quotient, and at most 2^-17 of the
// result. With math_mode="fast" one short tanh takes the place of exponential and reciprocal, which
// share a unit of a quarter of the multipliers' speed: `fma (tanh (mul %x, 0.5)), 0.5, 0.5`,
// absolute error 2^-11.
//
// Takes and gives SIMT IR of float32; dead operations stay (dce.h).
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything changed; never for math_mode="precise".
bool short_sigmoid(ir::Function& function);

}  // namespace enceladus::transforms
