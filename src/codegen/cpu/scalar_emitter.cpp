#include "codegen/cpu/scalar_emitter.h"

#include "codegen/cpu/atomics.h"
#include "codegen/cpu/elementwise.h"
#include "codegen/cpu/reports.h"
#include "support/check.h"

namespace enceladus::cpu {
namespace {

using ir::Opcode;
using llvm::Value;

class ScalarEmitter {
 public:
  ScalarEmitter(KernelState& kernel, const ir::Operation* op)
      : kernel_(kernel), builder_(kernel.builder()), op_(op) {}

  Value* emit() {
    switch (op_->opcode()) {
      case Opcode::kConstant:
        return constant_of_bits(kernel_.context(), op_->result()->type().dtype(),
                                static_cast<uint64_t>(op_->integer(ir::AttributeName::kBits)));
      case Opcode::kProgramId:
        return kernel_.program[op_->integer(ir::AttributeName::kAxis)];
      case Opcode::kNumPrograms:
        return kernel_.grid[op_->integer(ir::AttributeName::kAxis)];
      case Opcode::kHint:
        return operand(0);
      case Opcode::kAddPtr:
        return builder_.CreateGEP(
            memory_type(kernel_.context(), pointee(op_->result())), operand(0),
            checkable_offset(kernel_, exact_integer(kernel_, op_->operand(1))));
      case Opcode::kLoad:
        return load();
      case Opcode::kStore:
        return store();
      case Opcode::kAtomicRmw:
      case Opcode::kAtomicCas:
        return atomic();
      case Opcode::kDevicePrint:
        print();
        return nullptr;
      case Opcode::kDeviceAssert:
        emit_assertion(kernel_, op_, operands());
        return nullptr;
      case Opcode::kAssume:
      case Opcode::kDebugBarrier:
        return nullptr;
      default:
        ENC_CHECK(op_->record().op_class == ir::OpClass::kElementwise,
                  std::string(op_->record().name) + " is no scalar operation");
        return emit_elementwise(kernel_.emission, op_, operands());
    }
  }

 private:
  static ir::Type pointee(const ir::Value* pointer) {
    return ir::Type::number(pointer->type().dtype());
  }
  Value* operand(int index) { return kernel_.scalar(op_->operand(index)); }
  llvm::SmallVector<Value*, 4> operands() {
    llvm::SmallVector<Value*, 4> values;
    for (const ir::Value* value : op_->operands())
      values.push_back(value ? kernel_.scalar(value) : nullptr);
    return values;
  }

  Value* atomic() {
    llvm::SmallVector<Value*, 4> values = operands();
    Value*& mask = values[static_cast<size_t>(mask_operand(op_))];
    mask = emit_bounds_check(kernel_, op_, values[0], mask, {});
    return emit_atomic(kernel_, op_, values);
  }

  void print() {
    if (op_->operand_count() == 0) return emit_print(kernel_, op_, 0, nullptr, {});
    for (int part = 0; part < op_->operand_count(); ++part)
      emit_print(kernel_, op_, part, operand(part), {});
  }

  Value* mask() {
    const ir::Value* mask = op_->operand(op_->is(Opcode::kLoad) ? 1 : 2);
    return emit_bounds_check(kernel_, op_, operand(0), mask ? kernel_.scalar(mask) : nullptr, {});
  }
  // Spare memory is read or written where the mask is false.
  Value* guarded_pointer(Value* mask) {
    return mask ? builder_.CreateSelect(mask, operand(0), kernel_.spare) : operand(0);
  }

  llvm::Align alignment() {
    return llvm::Align(static_cast<uint64_t>(element_bytes(pointee(op_->operand(0)))));
  }

  Value* load() {
    Value* condition = mask();
    const DType dtype = op_->result()->type().dtype();
    Value* loaded = builder_.CreateAlignedLoad(
        memory_type(kernel_.context(), pointee(op_->operand(0))), guarded_pointer(condition),
        alignment(), op_->integer_or(ir::AttributeName::kVolatile, 0) != 0);
    Value* value = from_memory(kernel_.emission, loaded, dtype);
    if (condition == nullptr) return value;
    Value* other = op_->operand(2) ? operand(2) : llvm::Constant::getNullValue(value->getType());
    return builder_.CreateSelect(condition, value, other);
  }

  Value* store() {
    Value* value = to_memory(kernel_.emission, operand(1), op_->operand(1)->type().dtype());
    builder_.CreateAlignedStore(value, guarded_pointer(mask()), alignment());
    return nullptr;
  }

  KernelState& kernel_;
  llvm::IRBuilder<>& builder_;
  const ir::Operation* op_;
};

}  // namespace

void emit_scalar(KernelState& kernel, const ir::Operation* op) {
  Value* value = ScalarEmitter(kernel, op).emit();
  if (op->result_count() > 0) kernel.scalars[op->result()->id()] = value;
}

Value* widen_to_int64(Emission& emission, Value* value, DType dtype) {
  llvm::Type* type = with_lanes_of(emission.builder.getInt64Ty(), value->getType());
  return is_signed(dtype) ? emission.builder.CreateSExt(value, type)
                          : emission.builder.CreateZExt(value, type);
}

Value* exact_integer(KernelState& kernel, const ir::Value* value) {
  llvm::IRBuilder<>& builder = kernel.builder();
  const ir::Operation* op = value->definition();
  const Opcode opcode = op != nullptr ? op->opcode() : Opcode::kConstant;
  auto exact = [&](int index) { return exact_integer(kernel, op->operand(index)); };
  switch (opcode) {
    case Opcode::kAdd: {
      Value* first = exact(0);
      return builder.CreateAdd(first, exact(1));
    }
    case Opcode::kSub: {
      Value* first = exact(0);
      return builder.CreateSub(first, exact(1));
    }
    case Opcode::kMul: {
      Value* first = exact(0);
      return builder.CreateMul(first, exact(1));
    }
    case Opcode::kHint:
      return exact(0);
    case Opcode::kCast: {
      const ir::Type& from = op->operand(0)->type();
      const bool widens = from.is_integer() && !from.is_bool() && !value->type().is_bool() &&
                          bit_width(from.dtype()) <= bit_width(value->type().dtype());
      if (widens) return exact(0);
      break;
    }
    default:
      break;
  }
  return widen_to_int64(kernel.emission, kernel.scalar(value), value->type().dtype());
}

}  // namespace enceladus::cpu
