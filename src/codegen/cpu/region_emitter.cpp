#include "codegen/cpu/region_emitter.h"

#include "codegen/cpu/dot_emitter.h"
#include "codegen/cpu/group_emitter.h"
#include "codegen/cpu/scalar_emitter.h"
#include "support/check.h"

namespace enceladus::cpu {
namespace {

using ir::Opcode;
using llvm::Value;

class ControlEmitter {
 public:
  ControlEmitter(KernelState& kernel, const ir::Operation* op)
      : kernel_(kernel), builder_(kernel.builder()), op_(op) {}

  void emit() {
    if (op_->is(Opcode::kFor)) return emit_for();
    if (op_->is(Opcode::kWhile)) return emit_while();
    emit_if();
  }

 private:
  Value* scalar(int operand) { return kernel_.scalar(op_->operand(operand)); }
  void set(const ir::Value* value, Value* scalar) { kernel_.scalars[value->id()] = scalar; }

  // Phis for the scalar results, in the block that the builder stands in.
  void open_phis(llvm::BasicBlock* from, int first_initial) {
    for (const ir::Value* result : op_->results()) {
      if (!result->type().is_scalar()) continue;
      Value* initial = scalar(result->index() + first_initial);
      llvm::PHINode* phi = builder_.CreatePHI(initial->getType(), 2);
      phi->addIncoming(initial, from);
      phis_.push_back(phi);
      set(result, phi);
    }
  }

  void pass_phis_to(const ir::Region* region, int first_argument) {
    size_t next = 0;
    for (const ir::Value* result : op_->results())
      if (result->type().is_scalar())
        set(region->argument(result->index() + first_argument), phis_[next++]);
  }

  void close_phis(const ir::Region* region, llvm::BasicBlock* from) {
    const ir::Operation* yield = region->terminator();
    size_t next = 0;
    for (const ir::Value* result : op_->results())
      if (result->type().is_scalar())
        phis_[next++]->addIncoming(kernel_.scalar(yield->operand(result->index())), from);
  }

  llvm::BasicBlock* start_header() {
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    header_ = kernel_.new_block("header");
    builder_.CreateBr(header_);
    builder_.SetInsertPoint(header_);
    return before;
  }

  // The counter is wider than the induction variable, so that its last step does not wrap.
  void emit_for() {
    const DType dtype = op_->operand(0)->type().dtype();
    llvm::Type* type = scalar(0)->getType();
    llvm::Type* wide = builder_.getInt64Ty();
    auto widen = [&](Value* value) {
      return is_signed(dtype) ? builder_.CreateSExt(value, wide) : builder_.CreateZExt(value, wide);
    };
    Value *lower = widen(scalar(0)), *upper = widen(scalar(1)), *step = widen(scalar(2));
    Value* rises = builder_.CreateICmpSGT(step, builder_.getInt64(0));
    llvm::BasicBlock* before = start_header();
    llvm::PHINode* counter = builder_.CreatePHI(wide, 2);
    counter->addIncoming(lower, before);
    open_phis(before, 3);
    const bool has_sign = is_signed(dtype);
    Value* below =
        has_sign ? builder_.CreateICmpSLT(counter, upper) : builder_.CreateICmpULT(counter, upper);
    Value* goes_on = builder_.CreateSelect(rises, below, builder_.CreateICmpSGT(counter, upper));
    llvm::BasicBlock* body = kernel_.new_block("body");
    llvm::BasicBlock* exit = kernel_.new_block("exit");
    builder_.CreateCondBr(goes_on, body, exit);

    builder_.SetInsertPoint(body);
    const ir::Region* region = op_->region(0);
    set(region->argument(0), builder_.CreateTrunc(counter, type));
    pass_phis_to(region, 1);
    emit_region(kernel_, *region);
    llvm::BasicBlock* latch = builder_.GetInsertBlock();
    close_phis(region, latch);
    counter->addIncoming(builder_.CreateAdd(counter, step), latch);
    builder_.CreateBr(header_);
    builder_.SetInsertPoint(exit);
  }

  void emit_while() {
    llvm::BasicBlock* before = start_header();
    open_phis(before, 0);
    pass_phis_to(op_->region(0), 0);
    emit_region(kernel_, *op_->region(0));
    Value* goes_on = kernel_.scalar(op_->region(0)->terminator()->operand(0));
    llvm::BasicBlock* body = kernel_.new_block("body");
    llvm::BasicBlock* exit = kernel_.new_block("exit");
    builder_.CreateCondBr(goes_on, body, exit);

    builder_.SetInsertPoint(body);
    pass_phis_to(op_->region(1), 0);
    emit_region(kernel_, *op_->region(1));
    kernel_.emit_abandonment_test();
    close_phis(op_->region(1), builder_.GetInsertBlock());
    builder_.CreateBr(header_);
    builder_.SetInsertPoint(exit);
  }

  void emit_if() {
    llvm::BasicBlock* branches[2] = {kernel_.new_block("then"), kernel_.new_block("else")};
    llvm::BasicBlock* after = kernel_.new_block("after");
    builder_.CreateCondBr(scalar(0), branches[0], branches[1]);
    std::vector<Value*> given[2];
    for (int branch = 0; branch < 2; ++branch) {
      builder_.SetInsertPoint(branches[branch]);
      const ir::Region* region = op_->region(branch);
      emit_region(kernel_, *region);
      for (const ir::Value* result : op_->results())
        if (result->type().is_scalar())
          given[branch].push_back(kernel_.scalar(region->terminator()->operand(result->index())));
      branches[branch] = builder_.GetInsertBlock();
      builder_.CreateBr(after);
    }
    builder_.SetInsertPoint(after);
    size_t next = 0;
    for (const ir::Value* result : op_->results()) {
      if (!result->type().is_scalar()) continue;
      llvm::PHINode* phi = builder_.CreatePHI(given[0][next]->getType(), 2);
      for (int branch = 0; branch < 2; ++branch)
        phi->addIncoming(given[branch][next], branches[branch]);
      set(result, phi);
      ++next;
    }
  }

  KernelState& kernel_;
  llvm::IRBuilder<>& builder_;
  const ir::Operation* op_;
  llvm::BasicBlock* header_ = nullptr;
  std::vector<llvm::PHINode*> phis_;
};

}  // namespace

void emit_region(KernelState& kernel, const ir::Region& region) {
  const auto items = kernel.plan.items.find(&region);
  if (items == kernel.plan.items.end()) return;  // nothing to do in it
  for (const loop::Item& item : items->second) {
    switch (item.kind) {
      case loop::ItemKind::kScalar:
        emit_scalar(kernel, item.op);
        break;
      case loop::ItemKind::kGroup:
        emit_group(kernel, kernel.plan.groups[item.group]);
        break;
      case loop::ItemKind::kControl:
        ControlEmitter(kernel, item.op).emit();
        break;
      case loop::ItemKind::kDot:
        emit_dot(kernel, item.op);
        break;
      case loop::ItemKind::kDotLoop:
        emit_dot_loop(kernel, item.dot_loop);
        break;
    }
  }
}

}  // namespace enceladus::cpu
