#include "codegen/cpu/object_code.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar.h>
#include <llvm/Transforms/Utils.h>

#include <algorithm>
#include <stdexcept>

#include "codegen/cpu/host_target.h"
#include "codegen/cpu/lean_passes.h"
#include "support/check.h"

namespace enceladus::cpu {
namespace {

std::string emit(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType kind) {
  llvm::SmallVector<char, 0> output;
  llvm::raw_svector_ostream stream(output);
  const bool has_products = std::ranges::any_of(
      module, [](const llvm::Function& f) { return f.hasFnAttribute(kHasProducts); });
  LeanPasses passes(has_products ? Addresses::kReduced : Addresses::kAsWritten);
  bool unsupported = machine.addPassesToEmitFile(passes, stream, nullptr, kind);
  ENC_CHECK(!unsupported, "LLVM emits no code for this target");
  passes.run(module);
  return std::string(output.begin(), output.end());
}

}  // namespace

// Our code comes vectorized, unrolled and with what is invariant in front of its loop; what is left
// is what emitting piece by piece leaves behind. A full pipeline takes several times as long.
void optimize_module(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::legacy::PassManager passes;
  passes.add(llvm::createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));
  passes.add(llvm::createSROAPass());
  passes.add(llvm::createEarlyCSEPass());
  passes.add(llvm::createCFGSimplificationPass());
  passes.add(llvm::createInstructionCombiningPass());
  passes.add(llvm::createLICMPass());
  passes.run(module);
}

void verify_module(const llvm::Module& module) {
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  const bool is_broken = llvm::verifyModule(module, &stream);
  ENC_CHECK(!is_broken, stream.str());
}

std::string emit_object(llvm::Module& module, llvm::TargetMachine& machine) {
  return emit(module, machine, llvm::CodeGenFileType::ObjectFile);
}

std::string emit_assembly(llvm::Module& module, llvm::TargetMachine& machine) {
  return emit(module, machine, llvm::CodeGenFileType::AssemblyFile);
}

std::string print_module(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

std::unique_ptr<llvm::Module> parse_module(const std::string& text, llvm::LLVMContext& context) {
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssembly(llvm::MemoryBufferRef(text, "LLVM IR"), problem, context);
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (module == nullptr) {
    problem.print("", stream, /*ShowColors=*/false);
    throw std::runtime_error(message);
  }
  if (llvm::verifyModule(*module, &stream)) throw std::runtime_error("LLVM IR: " + message);
  return module;
}

std::string assembly_of_text(const std::string& text) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parse_module(text, context);
  return emit_assembly(*module, *make_target_machine(host_target()));
}

}  // namespace enceladus::cpu
