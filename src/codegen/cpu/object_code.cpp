#include "codegen/cpu/object_code.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <stdexcept>

#include "codegen/cpu/host_target.h"
#include "support/check.h"

namespace enceladus::cpu {
namespace {

std::string emit(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType kind) {
  llvm::SmallVector<char, 0> output;
  llvm::raw_svector_ostream stream(output);
  llvm::legacy::PassManager passes;
  bool unsupported = machine.addPassesToEmitFile(passes, stream, nullptr, kind);
  ENC_CHECK(!unsupported, "LLVM emits no code for this target");
  passes.run(module);
  return std::string(output.begin(), output.end());
}

}  // namespace

void optimize_module(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = false;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
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
