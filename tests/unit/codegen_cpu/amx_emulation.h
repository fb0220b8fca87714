// AMX in software, for hosts without it: the calls of AMX instructions in a module are turned into
// calls of functions here, which compute what Intel's manual says (each thread its own tiles) and
// report as test failures what the processor would stop at. Says nothing about speed, nor about how
// LLVM writes the instructions: gemm_assembly_test.cpp looks at those.
#pragma once

#include <llvm/IR/Module.h>

#include "codegen/cpu/host_target.h"

namespace enceladus::cpu {

// This host as if it had AMX, and the vectors of 64 bytes that go with it (LLVM cuts them to what
// the host has).
const HostTarget& emulated_amx_target();

void emulate_amx(llvm::Module& module);

struct AmxState {
  bool is_set_up = false;
  int setups = 0;    // since the process began
  int products = 0;  // likewise
};
// Of the calling thread.
AmxState amx_state();

}  // namespace enceladus::cpu
