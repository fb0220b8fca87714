// Exact addresses.
//
// An integer expression that reaches a pointer gives the address that unlimited precision would
// give (api.md 1.2), while the same expression, stored or compared, wraps at its own type. Takes
// any tile IR, gives the same function where every offset of an `addptr` and of a descriptor block
// is computed in 64 bits unless value ranges prove that its own type holds it: the part of the
// chain that may wrap is doubled in i64, loops and branches hand the doubles on. Runs first of all:
// behind it every operation means what it says at its own type, so that other passes need not know
// which values reach a pointer. What is left of the narrow chain is dead where nothing else uses
// it.
//
// Exact are sums, differences, products, negations and shifts by constants; of signed numbers also
// quotients, remainders, minima, maxima and absolute values; selections, conversions to types that
// hold every value, and whatever moves elements. Anything else (loads, bitwise operations, unsigned
// remainders as in hashing) is a value of its own type, extended.
//
//   %1 = mul %pid, %stride : i32           %2 = cast %pid : i32 -> i64
//   %p = addptr %x, %1 : ptr<f32>, i32     %3 = cast %stride : i32 -> i64
//                                     =>   %4 = mul %2, %3 : i64
//                                          %p = addptr %x, %4 : ptr<f32>, i64
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether anything changed.
bool widen_offsets(ir::Function& function);

}  // namespace enceladus::transforms
