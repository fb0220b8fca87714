// Compiles one LLVM function for the host and runs it: what the tests of the emitters need.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <memory>
#include <string>

#include "codegen/cpu/host_target.h"

namespace enceladus::cpu {

// `void run(const void* arguments)`, whose body `emit` writes: it gets the pointer and a builder.
using EmitBody = std::function<void(llvm::IRBuilder<>& builder, llvm::Value* arguments)>;

// The module's LLVM text for the target, verified.
std::unique_ptr<llvm::Module> make_module(llvm::LLVMContext& context, const HostTarget& target,
                                          const EmitBody& emit);
// The assembly of the module after the optimizer, for the target.
std::string assembly_of(const HostTarget& target, const EmitBody& emit);

class JitFunction {
 public:
  explicit JitFunction(const EmitBody& emit);
  ~JitFunction();
  void operator()(const void* arguments) const { entry_(arguments); }

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
  void (*entry_)(const void*) = nullptr;
};

}  // namespace enceladus::cpu
