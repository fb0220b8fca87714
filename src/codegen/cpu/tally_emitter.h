// Writes out how a kernel counts in its tallies (tallies.h, which says when and why): at the start
// of the entry, and for each addition.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include "codegen/cpu/kernel_state.h"

namespace enceladus::cpu {

// For a call without programs ([first, last) is empty) adds the tallies to memory and returns; else
// clears those of a thread that has not counted in this launch. In the entry, once the arguments
// are there; the builder stands where programs are to run. Nothing for kernels without tallies.
void emit_tallies(KernelState& kernel, llvm::Value* first, llvm::Value* last);

// At the start of each program: decides which tallies it counts in.
void open_tallies(KernelState& kernel);

// Adds the values to the tally where it holds their places. `mask` may be null. Calls `add_others`
// where the code for those that it does not hold belongs, with their mask.
void emit_counting(KernelState& kernel, int tally, llvm::Value* pointers, llvm::Value* values,
                   llvm::Value* mask, llvm::function_ref<void(llvm::Value* mask)> add_others);

}  // namespace enceladus::cpu
