// The helper functions behind atomics: one name a kind, overloaded by the pointee. What the device
// has no instruction for is a loop of compare-and-swap on the element or, for bytes, on the word
// around it.
#pragma once

#include <string>

#include "ir/opcode.h"
#include "support/dtype.h"

namespace enceladus::cuda {

std::string atomic_name(ir::AtomicKind kind);  // `enc_atomic_add`
std::string atomic_text(ir::AtomicKind kind, DType dtype);
inline constexpr const char* kCompareAndSwapName = "enc_atomic_cas";
std::string compare_and_swap_text(DType dtype);

}  // namespace enceladus::cuda
