#include "codegen/cpu/ir_loops.h"

#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Metadata.h>

namespace enceladus::cpu {
namespace {

llvm::BasicBlock* new_block(llvm::IRBuilderBase& builder, const char* name) {
  return llvm::BasicBlock::Create(builder.getContext(), name,
                                  builder.GetInsertBlock()->getParent());
}

bool is_below(llvm::Value* a, llvm::Value* b) {  // two constants
  auto *first = llvm::dyn_cast<llvm::ConstantInt>(a),
       *second = llvm::dyn_cast<llvm::ConstantInt>(b);
  return first != nullptr && second != nullptr && first->getSExtValue() < second->getSExtValue();
}

llvm::MDNode* loop_hints(llvm::LLVMContext& context) {
  auto flag = [&](const char* name, bool value) {
    auto* constant = llvm::ConstantAsMetadata::get(
        llvm::ConstantInt::get(llvm::Type::getInt1Ty(context), value));
    return llvm::MDNode::get(context, {llvm::MDString::get(context, name), constant});
  };
  auto* no_unroll =
      llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.unroll.disable")});
  llvm::MDNode* hints = llvm::MDNode::getDistinct(
      context, {nullptr, no_unroll, flag("llvm.loop.vectorize.enable", false)});
  hints->replaceOperandWith(0, hints);
  return hints;
}

}  // namespace

Values emit_carrying_loop(
    llvm::IRBuilderBase& builder, const LoopBounds& bounds, llvm::ArrayRef<llvm::Value*> initial,
    llvm::function_ref<Values(llvm::Value*, llvm::ArrayRef<llvm::Value*>)> body) {
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::BasicBlock* loop = new_block(builder, "loop");
  llvm::BasicBlock* exit = new_block(builder, "after");
  const bool is_entered = bounds.is_entered || is_below(bounds.begin, bounds.end);
  if (is_entered)
    builder.CreateBr(loop);
  else
    builder.CreateCondBr(builder.CreateICmpSLT(bounds.begin, bounds.end), loop, exit);

  builder.SetInsertPoint(loop);
  llvm::PHINode* index = builder.CreatePHI(builder.getInt64Ty(), 2, "index");
  index->addIncoming(bounds.begin, before);
  llvm::SmallVector<llvm::PHINode*, 16> phis;
  for (llvm::Value* value : initial) {
    phis.push_back(builder.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
  }
  const Values next = body(index, Values(phis.begin(), phis.end()));
  llvm::BasicBlock* latch = builder.GetInsertBlock();
  llvm::Value* next_index = builder.CreateNSWAdd(index, builder.getInt64(bounds.step));
  index->addIncoming(next_index, latch);
  for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(next[i], latch);
  builder.CreateCondBr(builder.CreateICmpSLT(next_index, bounds.end), loop, exit)
      ->setMetadata(llvm::LLVMContext::MD_loop, loop_hints(builder.getContext()));

  builder.SetInsertPoint(exit);
  if (is_entered) return next;
  Values results;
  for (size_t i = 0; i < phis.size(); ++i) {
    llvm::PHINode* result = builder.CreatePHI(initial[i]->getType(), 2);
    result->addIncoming(initial[i], before);
    result->addIncoming(next[i], latch);
    results.push_back(result);
  }
  return results;
}

void emit_loop(llvm::IRBuilderBase& builder, const LoopBounds& bounds,
               llvm::function_ref<void(llvm::Value*)> body) {
  emit_carrying_loop(builder, bounds, {}, [&](llvm::Value* index, llvm::ArrayRef<llvm::Value*>) {
    body(index);
    return Values();
  });
}

void emit_if(llvm::IRBuilderBase& builder, llvm::Value* condition,
             llvm::function_ref<void()> body) {
  llvm::BasicBlock* then = new_block(builder, "then");
  llvm::BasicBlock* after = new_block(builder, "after");
  builder.CreateCondBr(condition, then, after);
  builder.SetInsertPoint(then);
  body();
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
}

llvm::Value* emit_if_else(llvm::IRBuilderBase& builder, llvm::Value* condition,
                          llvm::function_ref<llvm::Value*()> yes,
                          llvm::function_ref<llvm::Value*()> no) {
  llvm::BasicBlock* then = new_block(builder, "then");
  llvm::BasicBlock* otherwise = new_block(builder, "otherwise");
  llvm::BasicBlock* after = new_block(builder, "after");
  builder.CreateCondBr(condition, then, otherwise);
  builder.SetInsertPoint(then);
  llvm::Value* yes_value = yes();
  llvm::BasicBlock* yes_end = builder.GetInsertBlock();
  builder.CreateBr(after);
  builder.SetInsertPoint(otherwise);
  llvm::Value* no_value = no();
  llvm::BasicBlock* no_end = builder.GetInsertBlock();
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
  if (yes_value == nullptr) return nullptr;
  llvm::PHINode* result = builder.CreatePHI(yes_value->getType(), 2);
  result->addIncoming(yes_value, yes_end);
  result->addIncoming(no_value, no_end);
  return result;
}

}  // namespace enceladus::cpu
