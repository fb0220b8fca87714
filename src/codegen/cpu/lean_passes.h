// LLVM's code generation without the passes that find nothing in our kernels. A kernel is a small
// function without exceptions, debugging information, garbage collection, thread-local variables or
// hardening, written in the form that LLVM's late optimizations aim at; yet each of some 150 passes
// walks it, and several compute block frequencies afresh. Not the optimizations of the IR
// (object_code.h).
#pragma once

#include <llvm/IR/LegacyPassManager.h>

namespace enceladus::cpu {

// Whether LLVM reduces the address arithmetic of loops (object_code.h says when).
enum class Addresses { kReduced, kAsWritten };

// A pass manager that leaves out, by name, what is handed to it in vain. A name that this version
// of LLVM does not know leaves nothing out.
class LeanPasses : public llvm::legacy::PassManager {
 public:
  explicit LeanPasses(Addresses addresses) : addresses_(addresses) {}
  void add(llvm::Pass* pass) override;

 private:
  Addresses addresses_;
};

}  // namespace enceladus::cpu
