// From an LLVM module to machine code: the optimization pipeline and the two forms of output.
// Knows nothing of tiles; how the code gets into memory is load.h.
#pragma once

#include <memory>
#include <string>

#include "codegen/cpu/host_target.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace enceladus::cpu {

// An attribute of functions with products of tiles. In modules with one LLVM reduces the address
// arithmetic of loops, which takes a third of the time of code generation; products gain a few
// percent from it, other kernels nothing. It stands in the text, so that text gives the same code.
// Modules of few instructions without products do with fewer passes still (lean_passes.h).
inline constexpr const char* kHasProducts = "enceladus-has-products";

// LLVM's passes for one target, ready to run on one module after another, of any context: putting
// their list together takes as long as the passes themselves need for a tenth of a small kernel.
// Not for several threads at once.
class CodeGenerator {
 public:
  explicit CodeGenerator(const HostTarget& target);
  ~CodeGenerator();

  // Triple and data layout of the target; for new modules.
  void prepare(llvm::Module& module) const;
  // Takes what the emitters wrote, gives what is worth generating code for. Loop and SLP
  // vectorization are off: the emitters have already chosen vectors.
  void optimize(llvm::Module& module);
  // A relocatable object file. The module is not fit for further use.
  std::string emit_object(llvm::Module& module);
  // The same code as text for readers. The module is not fit for further use.
  std::string emit_assembly(llvm::Module& module);

 private:
  class Emission;
  struct Passes;

  std::unique_ptr<Passes> passes_;
};

// Throws InternalError where the module is malformed.
void verify_module(const llvm::Module& module);

std::string print_module(const llvm::Module& module);

// Reads LLVM IR text. Throws std::runtime_error with LLVM's own message and line.
std::unique_ptr<llvm::Module> parse_module(const std::string& text, llvm::LLVMContext& context);

// Assembly for the host of a module given as text, as kept in an artifact's "llir" stage.
std::string assembly_of_text(const std::string& text);

}  // namespace enceladus::cpu
