// A sigmoid of the device's short functions: with math_mode="fast", one short tanh in place of an
// exponential and a reciprocal, which share a unit of a quarter of the multipliers' speed.
//
//   %1 = neg %x                                  %1 = mul %x, 0.5
//   %2 = exp %1                                  %2 = tanh %1
//   %3 = add %2, 1.0                       ->    %4 = fma %2, 0.5, 0.5
//   %4 = div 1.0, %3
//
// Absolute error 2^-11, which is the short tanh's. Takes and gives SIMT IR of float32; dead
// operations stay (dce.h).
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything changed; never but for math_mode="fast".
bool short_sigmoid(ir::Function& function);

}  // namespace enceladus::transforms
