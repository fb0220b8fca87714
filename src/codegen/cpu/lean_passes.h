// LLVM's code generation without the passes that find nothing in our kernels. A kernel is a small
// function without exceptions, debugging information, garbage collection, thread-local variables or
// hardening, written in the form that LLVM's late optimizations aim at; yet each of some 150 passes
// walks it, and several compute block frequencies afresh. Not the optimizations of the IR
// (object_code.h).
#pragma once

#include <llvm/IR/LegacyPassManager.h>

namespace enceladus::cpu {

// What is worth running (object_code.h says for which modules).
enum class Effort {
  kProducts,  // all, the reduction of the address arithmetic of loops among them
  kPlain,     // without that reduction
  kSmall,     // nor what pays off where registers run short or much is computed twice
};

// A pass manager that leaves out, by name, what is handed to it in vain. A name that this version
// of LLVM does not know leaves nothing out.
class LeanPasses : public llvm::legacy::PassManager {
 public:
  explicit LeanPasses(Effort effort) : effort_(effort) {}
  void add(llvm::Pass* pass) override;

 private:
  bool is_left_out(llvm::StringRef name) const;

  Effort effort_;
};

}  // namespace enceladus::cpu
