#include "codegen/cpu/kernel_state.h"

#include <llvm/IR/MDBuilder.h>

#include "support/check.h"

namespace enceladus::cpu {

llvm::Value* KernelState::scalar(const ir::Value* value) const {
  llvm::Value* found = scalars[value->id()];
  ENC_CHECK(found != nullptr, "a scalar is used before it is computed: " + value->name());
  return found;
}

llvm::Value* KernelState::buffer_address(int buffer) {
  return builder().CreateConstInBoundsGEP1_64(builder().getInt8Ty(), scratch,
                                              static_cast<uint64_t>(plan.buffers[buffer].offset));
}

llvm::AllocaInst* KernelState::allocate(llvm::Type* type) {
  llvm::IRBuilderBase::InsertPointGuard guard(builder());
  builder().SetInsertPoint(allocas);
  return builder().CreateAlloca(type);
}

llvm::BasicBlock* KernelState::new_block(const char* name) {
  return llvm::BasicBlock::Create(context(), name, builder().GetInsertBlock()->getParent());
}

void KernelState::emit_abandonment_test() {
  llvm::LoadInst* newest = builder().CreateAlignedLoad(builder().getInt64Ty(), abandoned_at,
                                                       llvm::Align(alignof(uint64_t)));
  newest->setAtomic(llvm::AtomicOrdering::Monotonic);
  llvm::BasicBlock* goes_on = new_block("goes_on");
  llvm::MDNode* rare = llvm::MDBuilder(context()).createBranchWeights(1, 1 << 20);
  builder().CreateCondBr(builder().CreateICmpUGE(newest, ticket), abandoned, goes_on, rare);
  builder().SetInsertPoint(goes_on);
}

}  // namespace enceladus::cpu
