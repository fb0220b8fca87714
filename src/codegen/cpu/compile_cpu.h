// The CPU target's back end: from optimized tile IR to an artifact whose binary is an object file
// of this machine. Loading it is load.h's.
#pragma once

#include <string>

#include "ir/ir.h"
#include "support/artifact.h"
#include "support/stopwatch.h"

namespace enceladus::cpu {

struct CpuOptions {
  bool verify = false;             // check the LLVM module before it is compiled
  std::string llvm_override = {};  // LLVM IR text to compile in place of our own; empty: none
};

// Thread safe: every call has its own LLVM context. Throws CompilationFailure for what the target
// cannot do, InternalError for our own mistakes.
// Fills in what the target decides: entry, binary, the "llir" stage, scratch and walk.
Artifact compile_cpu(const ir::Function& function, const CpuOptions& options, Stopwatch& stopwatch);

}  // namespace enceladus::cpu
