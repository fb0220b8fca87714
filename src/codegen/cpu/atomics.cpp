#include "codegen/cpu/atomics.h"

#include "codegen/cpu/casts.h"
#include "codegen/cpu/elementwise.h"
#include "codegen/cpu/ir_loops.h"
#include "codegen/cpu/lane_loop.h"
#include "codegen/cpu/tally_emitter.h"

namespace enceladus::cpu {
namespace {

using ir::AtomicKind;
using ir::Opcode;
using llvm::Value;

llvm::AtomicOrdering ordering_of(const ir::Operation* op) {
  const std::string_view semantics = op->text(ir::AttributeName::kSemantics);
  if (semantics == "relaxed") return llvm::AtomicOrdering::Monotonic;
  if (semantics == "acquire") return llvm::AtomicOrdering::Acquire;
  if (semantics == "release") return llvm::AtomicOrdering::Release;
  return llvm::AtomicOrdering::AcquireRelease;
}

class AtomicEmitter {
 public:
  AtomicEmitter(KernelState& kernel, const ir::Operation* op)
      : kernel_(kernel),
        builder_(kernel.builder()),
        op_(op),
        dtype_(op->operand(0)->type().dtype()),
        memory_type_(memory_type(kernel.context(), ir::Type::number(dtype_))),
        bits_type_(builder_.getIntNTy(8u * static_cast<unsigned>(byte_size(dtype_)))),
        alignment_(static_cast<uint64_t>(byte_size(dtype_))) {}

  // One element, registers in and out.
  Value* emit(llvm::ArrayRef<Value*> operands) {
    auto access = [&] {
      return op_->is(Opcode::kAtomicCas) ? compare_and_swap(operands)
                                         : read_modify_write(operands[0], operands[1]);
    };
    Value* mask = operands[static_cast<size_t>(mask_operand(op_))];
    if (mask == nullptr) return access();
    Value* zero = llvm::Constant::getNullValue(operands[1]->getType());
    return emit_if_else(builder_, mask, access, [&] { return zero; });
  }

 private:
  AtomicKind kind() const { return op_->enumerator<AtomicKind>(ir::AttributeName::kAtomic); }

  Value* to_bits(Value* value) {
    return builder_.CreateBitCast(to_memory(kernel_.emission, value, dtype_), bits_type_);
  }
  Value* from_bits(Value* bits) {
    return from_memory(kernel_.emission, builder_.CreateBitCast(bits, memory_type_), dtype_);
  }

  Value* compare_and_swap(llvm::ArrayRef<Value*> operands) {
    llvm::AtomicCmpXchgInst* exchange =
        builder_.CreateAtomicCmpXchg(operands[0], to_bits(operands[1]), to_bits(operands[2]),
                                     alignment_, ordering_of(op_), llvm::AtomicOrdering::Acquire);
    return from_bits(builder_.CreateExtractValue(exchange, 0));
  }

  // The machine's own operation, where there is one.
  std::optional<llvm::AtomicRMWInst::BinOp> native_operation() const {
    using Operation = llvm::AtomicRMWInst::BinOp;
    if (kind() == AtomicKind::kExchange) return Operation::Xchg;
    if (is_float(dtype_) || is_bool(dtype_)) return std::nullopt;
    switch (kind()) {
      case AtomicKind::kAdd:
        return Operation::Add;
      case AtomicKind::kAnd:
        return Operation::And;
      case AtomicKind::kOr:
        return Operation::Or;
      case AtomicKind::kXor:
        return Operation::Xor;
      default:
        return std::nullopt;
    }
  }

  Value* read_modify_write(Value* pointer, Value* value) {
    if (const auto operation = native_operation())
      return from_bits(builder_.CreateAtomicRMW(*operation, pointer, to_bits(value), alignment_,
                                                ordering_of(op_)));
    return exchange_loop(pointer, value);
  }

  Value* combined(Value* old, Value* value) {
    switch (kind()) {
      case AtomicKind::kMax:
      case AtomicKind::kMin:
        return emit_extremum(kernel_.emission, dtype_, kind() == AtomicKind::kMax, NanRule::kIgnore,
                             old, value);
      case AtomicKind::kAnd:
        return builder_.CreateAnd(old, value);
      case AtomicKind::kOr:
        return builder_.CreateOr(old, value);
      case AtomicKind::kXor:
        return builder_.CreateXor(old, value);
      case AtomicKind::kAdd:
        if (is_bool(dtype_)) return builder_.CreateOr(old, value);
        return is_float(dtype_)
                   ? round_to_dtype(kernel_.emission, builder_.CreateFAdd(old, value), dtype_)
                   : builder_.CreateAdd(old, value);
      case AtomicKind::kExchange:
        break;
    }
    return value;
  }

  Value* exchange_loop(Value* pointer, Value* value) {
    llvm::LoadInst* first = builder_.CreateAlignedLoad(bits_type_, pointer, alignment_);
    first->setAtomic(llvm::AtomicOrdering::Monotonic);
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* retry = kernel_.new_block("retry");
    llvm::BasicBlock* done = kernel_.new_block("done");
    builder_.CreateBr(retry);
    builder_.SetInsertPoint(retry);
    llvm::PHINode* seen = builder_.CreatePHI(bits_type_, 2);
    seen->addIncoming(first, before);
    Value* wanted = to_bits(combined(from_bits(seen), value));
    llvm::AtomicCmpXchgInst* exchange = builder_.CreateAtomicCmpXchg(
        pointer, seen, wanted, alignment_, ordering_of(op_), llvm::AtomicOrdering::Monotonic);
    seen->addIncoming(builder_.CreateExtractValue(exchange, 0), builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateExtractValue(exchange, 1), done, retry);
    builder_.SetInsertPoint(done);
    return from_bits(seen);
  }

  KernelState& kernel_;
  llvm::IRBuilder<>& builder_;
  const ir::Operation* op_;
  DType dtype_;
  llvm::Type* memory_type_;
  llvm::IntegerType* bits_type_;
  llvm::Align alignment_;
};

// What the tally does not hold is added by atomics.
void emit_counted(KernelState& kernel, int tally, llvm::ArrayRef<Value*> operands,
                  AtomicEmitter& emitter) {
  emit_counting(kernel, tally, operands[0], operands[1], operands[2], [&](Value* others) {
    Value* left[] = {operands[0], operands[1], others};
    emit_lane_loop(kernel, left, kernel.builder().getVoidTy(),
                   [&](llvm::ArrayRef<Value*> elements) { return emitter.emit(elements); });
  });
}

}  // namespace

int mask_operand(const ir::Operation* atomic) { return atomic->is(Opcode::kAtomicCas) ? 3 : 2; }

Value* emit_atomic(KernelState& kernel, const ir::Operation* op, llvm::ArrayRef<Value*> operands) {
  AtomicEmitter emitter(kernel, op);
  if (const int tally = kernel.tallies.of(*op); tally >= 0) {
    emit_counted(kernel, tally, operands, emitter);
    return nullptr;
  }
  llvm::Type* result =
      register_type(kernel.context(), ir::Type::number(op->result()->type().dtype()));
  return emit_lane_loop(kernel, operands, result,
                        [&](llvm::ArrayRef<Value*> elements) { return emitter.emit(elements); });
}

}  // namespace enceladus::cpu
