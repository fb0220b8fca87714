// The helper functions behind atomics: one name a kind, overloaded by the pointee. 32-bit integers
// and float sums have instructions; float extrema and everything of 8 or 16 bits are loops of
// compare-and-swap on the surrounding 32-bit word.
#pragma once

#include <string>

#include "ir/opcode.h"
#include "support/dtype.h"

namespace enceladus::metal {

std::string atomic_name(ir::AtomicKind kind);  // `enc_atomic_add`
std::string fetch_name(ir::AtomicKind kind);   // Metal's own, `atomic_fetch_add_explicit`
std::string atomic_text(ir::AtomicKind kind, DType dtype);
inline constexpr const char* kCompareAndSwapName = "enc_atomic_cas";
std::string compare_and_swap_text(DType dtype);

}  // namespace enceladus::metal
