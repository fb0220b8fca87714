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

// A vector add has 90 instructions; row reductions have 200 and more. Below this the passes that
// kSmall is without changed the instructions in loops by less than one percent (40 kernels of the
// tests).
constexpr unsigned kMostOfSmall = 128;

Effort effort_for(const llvm::Module& module) {
  const bool has_products = std::ranges::any_of(
      module, [](const llvm::Function& f) { return f.hasFnAttribute(kHasProducts); });
  if (has_products) return Effort::kProducts;
  return module.getInstructionCount() <= kMostOfSmall ? Effort::kSmall : Effort::kPlain;
}

// Our code comes vectorized, unrolled and with what is invariant in front of its loop; what is left
// is what emitting piece by piece leaves behind. A full pipeline takes several times as long.
void add_optimizations(llvm::legacy::PassManager& passes, llvm::TargetMachine& machine) {
  passes.add(llvm::createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));
  passes.add(llvm::createSROAPass());
  passes.add(llvm::createEarlyCSEPass());
  passes.add(llvm::createCFGSimplificationPass());
  passes.add(llvm::createInstructionCombiningPass());
  passes.add(llvm::createLICMPass());
}

}  // namespace

// Code generation into one buffer. Its streamer starts afresh with each module.
class CodeGenerator::Emission {
 public:
  Emission(llvm::TargetMachine& machine, llvm::CodeGenFileType kind, Effort effort)
      : stream_(output_), passes_(effort) {
    const bool unsupported = machine.addPassesToEmitFile(passes_, stream_, nullptr, kind);
    ENC_CHECK(!unsupported, "LLVM emits no code for this target");
  }

  std::string run(llvm::Module& module) {
    output_.clear();
    passes_.run(module);
    return std::string(output_.begin(), output_.end());
  }

 private:
  llvm::SmallVector<char, 0> output_;
  llvm::raw_svector_ostream stream_;
  LeanPasses passes_;
};

struct CodeGenerator::Passes {
  std::unique_ptr<llvm::TargetMachine> machine;  // outlives the passes
  llvm::legacy::PassManager optimizations;
  std::unique_ptr<Emission> objects[3];  // by Effort, made when first needed
};

CodeGenerator::CodeGenerator(const HostTarget& target) : passes_(std::make_unique<Passes>()) {
  passes_->machine = make_target_machine(target);
  add_optimizations(passes_->optimizations, *passes_->machine);
}

CodeGenerator::~CodeGenerator() = default;

void CodeGenerator::prepare(llvm::Module& module) const {
  module.setTargetTriple(passes_->machine->getTargetTriple().str());
  module.setDataLayout(passes_->machine->createDataLayout());
}

void CodeGenerator::optimize(llvm::Module& module) { passes_->optimizations.run(module); }

std::string CodeGenerator::emit_object(llvm::Module& module) {
  const Effort effort = effort_for(module);
  std::unique_ptr<Emission>& emission = passes_->objects[static_cast<size_t>(effort)];
  if (emission == nullptr)
    emission =
        std::make_unique<Emission>(*passes_->machine, llvm::CodeGenFileType::ObjectFile, effort);
  return emission->run(module);
}

std::string CodeGenerator::emit_assembly(llvm::Module& module) {
  Emission emission(*passes_->machine, llvm::CodeGenFileType::AssemblyFile, effort_for(module));
  return emission.run(module);
}

void verify_module(const llvm::Module& module) {
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  const bool is_broken = llvm::verifyModule(module, &stream);
  ENC_CHECK(!is_broken, stream.str());
}

std::string print_module(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // The printer counts columns at each write to an unbuffered stream, which takes as long again.
  stream.SetBufferSize(1 << 12);
  module.print(stream, nullptr);
  stream.flush();
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
  return CodeGenerator(host_target()).emit_assembly(*module);
}

}  // namespace enceladus::cpu
