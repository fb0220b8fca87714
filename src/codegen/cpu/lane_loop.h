// Work that is done lane after lane at run time: vectors are laid down in the frame, and a loop
// takes their elements. A scalar is one lane, without loop.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include "codegen/cpu/kernel_state.h"

namespace enceladus::cpu {

// Calls `body` with the elements of `vectors` (null ones stay null), all scalars or all vectors of
// one length. What `body` returns, if anything, is the lane's result; the results come back as a
// vector (or scalar) of `result_type`.
llvm::Value* emit_lane_loop(KernelState& kernel, llvm::ArrayRef<llvm::Value*> vectors,
                            llvm::Type* result_type,
                            llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> body);

}  // namespace enceladus::cpu
