// From tile IR to an artifact: the passes that every target shares, then the target's back end,
// with dumps and verification on the way. No Python here; the frontend has made the function.
#pragma once

#include <memory>
#include <string>

#include "ir/ir.h"
#include "support/artifact.h"

namespace enceladus {

struct CompileOptions {
  std::string target = "cpu";
  bool verify = false;        // the IR after every pass, the target's code before it is compiled
  std::string llir_override;  // LLVM IR text to take in place of the generated one; empty: none
};

// Thread safe; needs no lock of Python's. Throws CompilationFailure for the user's mistakes.
Artifact compile(std::unique_ptr<ir::Function> function, const CompileOptions& options);

}  // namespace enceladus
