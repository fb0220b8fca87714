#include "codegen/cpu/peak_kernel.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "codegen/cpu/ir_loops.h"
#include "codegen/cpu/object_code.h"
#include "support/cpu_abi.h"

namespace enceladus::cpu {
namespace {

using llvm::Value;

constexpr int64_t kRounds = 50'000;

// Enough to hide the latency of a multiply-add (4 or 5 cycles, two a cycle), with room for the
// factor and the addend.
int accumulator_count(const HostTarget& host) { return host.vector_registers >= 32 ? 16 : 12; }

Value* multiply_add(llvm::IRBuilder<>& builder, const HostTarget& host, Value* sum, Value* factor,
                    Value* addend) {
  if (host.has_fma)
    return builder.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {sum, factor, addend});
  return builder.CreateFAdd(builder.CreateFMul(sum, factor), addend);
}

// Accumulators start at different values, or the optimizer would keep one of them.
Value* run_program(llvm::IRBuilder<>& builder, const HostTarget& host) {
  llvm::Type* type = llvm::FixedVectorType::get(builder.getFloatTy(), host.lanes(4));
  Value* factor = llvm::ConstantFP::get(type, 0.999);
  Value* addend = llvm::ConstantFP::get(type, 0.001);
  Values sums;
  for (int i = 0; i < accumulator_count(host); ++i)
    sums.push_back(llvm::ConstantFP::get(type, 0.5 + i));
  sums = emit_carrying_loop(builder, {builder.getInt64(0), builder.getInt64(kRounds)}, sums,
                            [&](Value*, llvm::ArrayRef<Value*> carried) {
                              Values next;
                              for (Value* sum : carried)
                                next.push_back(multiply_add(builder, host, sum, factor, addend));
                              return next;
                            });
  Value* total = sums.front();
  for (Value* sum : llvm::ArrayRef<Value*>(sums).drop_front())
    total = builder.CreateFAdd(total, sum);
  return total;
}

void emit(llvm::Module& module, const HostTarget& host, const std::string& entry) {
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type *pointer = builder.getPtrTy(), *word = builder.getInt64Ty();
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {pointer, word, word, pointer}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, entry, module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  Value* result = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), function->getArg(3),
                                                     kScratchHeaderBytes);
  emit_loop(builder, {function->getArg(1), function->getArg(2)}, [&](Value*) {
    builder.CreateAlignedStore(run_program(builder, host), result,
                               llvm::Align(kScratchHeaderBytes));
  });
  builder.CreateRetVoid();
}

}  // namespace

Artifact make_peak_kernel(const HostTarget& host) {
  Artifact artifact;
  artifact.target = "cpu";
  artifact.kernel = "multiply_adds";
  artifact.entry = "enceladus_multiply_adds";
  artifact.scratch_bytes = host.vector_bytes;
  artifact.operations_per_program =
      2.0 * kRounds * static_cast<double>(accumulator_count(host) * host.lanes(4));
  llvm::LLVMContext context;
  llvm::Module module(artifact.kernel, context);
  CodeGenerator generator(host);
  generator.prepare(module);
  emit(module, host, artifact.entry);
  generator.optimize(module);
  artifact.binary = generator.emit_object(module);
  return artifact;
}

}  // namespace enceladus::cpu
