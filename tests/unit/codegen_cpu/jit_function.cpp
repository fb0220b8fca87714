#include "jit_function.h"

#include <gtest/gtest.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

namespace enceladus::cpu {
namespace {

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

llvm::SmallVector<char, 0> compile(llvm::Module& module, const HostTarget& target,
                                   llvm::CodeGenFileType kind) {
  const std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(target);
  optimize(module, *machine);
  llvm::SmallVector<char, 0> output;
  llvm::raw_svector_ostream stream(output);
  llvm::legacy::PassManager passes;
  EXPECT_FALSE(machine->addPassesToEmitFile(passes, stream, nullptr, kind));
  passes.run(module);
  return output;
}

}  // namespace

std::unique_ptr<llvm::Module> make_module(llvm::LLVMContext& context, const HostTarget& target,
                                          const EmitBody& emit) {
  auto module = std::make_unique<llvm::Module>("test", context);
  module->setTargetTriple(target.triple);
  module->setDataLayout(make_target_machine(target)->createDataLayout());
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {llvm::PointerType::get(context, 0)}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "run", *module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
  emit(builder, function->getArg(0));
  builder.CreateRetVoid();
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  EXPECT_FALSE(llvm::verifyModule(*module, &stream)) << problem;
  return module;
}

std::string assembly_of(const HostTarget& target, const EmitBody& emit) {
  llvm::LLVMContext context;
  const auto module = make_module(context, target, emit);
  const auto text = compile(*module, target, llvm::CodeGenFileType::AssemblyFile);
  return std::string(text.begin(), text.end());
}

struct JitFunction::Engine {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

JitFunction::JitFunction(const EmitBody& emit) : engine_(std::make_unique<Engine>()) {
  llvm::LLVMContext context;
  const auto module = make_module(context, host_target(), emit);
  const auto object = compile(*module, host_target(), llvm::CodeGenFileType::ObjectFile);
  engine_->jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::cantFail(engine_->jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(object.data(), object.size()), "object")));
  entry_ = llvm::cantFail(engine_->jit->lookup("run")).toPtr<void (*)(const void*)>();
}

JitFunction::~JitFunction() = default;

}  // namespace enceladus::cpu
