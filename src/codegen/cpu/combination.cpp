#include "codegen/cpu/combination.h"

#include <unordered_map>

#include "codegen/cpu/casts.h"
#include "support/check.h"

namespace enceladus::cpu {

using ir::CombineKind;
using ir::Opcode;
using llvm::Value;

Combination::Combination(KernelState& kernel, const ir::Operation* op)
    : kernel_(kernel),
      op_(op),
      kind_(op->enumerator<CombineKind>(ir::AttributeName::kCombine)),
      nan_rule_(op->integer_or(ir::AttributeName::kPropagateNan, 0) != 0 ? NanRule::kPropagate
                                                                         : NanRule::kIgnore) {
  for (const ir::Value* operand : op->operands()) dtypes_.push_back(operand->type().dtype());
  if (tracks_index()) dtypes_.push_back(DType::kInt32);
}

bool Combination::tracks_index() const {
  return kind_ == CombineKind::kArgMax || kind_ == CombineKind::kArgMin;
}

llvm::Constant* Combination::identity(size_t part) const {
  if (is_custom()) return nullptr;
  if (part == 1) return llvm::ConstantInt::get(kernel_.context(), llvm::APInt(32, 0));
  return combine_identity(kernel_.context(), kind_, dtypes_[0], nan_rule_);
}

Parts Combination::combine(const Parts& left, const Parts& right) {
  if (is_custom()) return call_function(left, right);
  if (tracks_index()) return better_of(left, right);
  return {emit_combine(kernel_.emission, kind_, dtypes_[0], nan_rule_, left[0], right[0])};
}

Value* Combination::finish(Value* value, size_t part) {
  const bool accumulates = kind_ == CombineKind::kAdd || kind_ == CombineKind::kMultiply;
  return accumulates ? round_to_dtype(kernel_.emission, value, dtypes_[part]) : value;
}

// The right one where it is better, or equal with a lower index. NaN loses to everything.
Parts Combination::better_of(const Parts& left, const Parts& right) {
  llvm::IRBuilder<>& builder = kernel_.builder();
  const bool is_max = kind_ == CombineKind::kArgMax;
  const DType dtype = dtypes_[0];
  Value *better, *equal;
  if (is_float(dtype)) {
    better = is_max ? builder.CreateFCmpOGT(right[0], left[0])
                    : builder.CreateFCmpOLT(right[0], left[0]);
    equal = builder.CreateFCmpOEQ(right[0], left[0]);
    Value* replaces_nan = builder.CreateAnd(builder.CreateFCmpUNO(left[0], left[0]),
                                            builder.CreateFCmpORD(right[0], right[0]));
    better = builder.CreateOr(better, replaces_nan);
  } else {
    using P = llvm::CmpInst::Predicate;
    const P predicate = is_max ? (is_signed(dtype) ? P::ICMP_SGT : P::ICMP_UGT)
                               : (is_signed(dtype) ? P::ICMP_SLT : P::ICMP_ULT);
    better = builder.CreateICmp(predicate, right[0], left[0]);
    equal = builder.CreateICmpEQ(right[0], left[0]);
  }
  Value* earlier = builder.CreateAnd(equal, builder.CreateICmpSLT(right[1], left[1]));
  Value* takes = builder.CreateOr(better, earlier);
  return {builder.CreateSelect(takes, right[0], left[0]),
          builder.CreateSelect(takes, right[1], left[1])};
}

// The function's operations, each on all lanes at once.
Parts Combination::call_function(const Parts& left, const Parts& right) {
  const ir::Region* region = op_->region(0);
  std::unordered_map<const ir::Value*, Value*> values;
  for (size_t part = 0; part < part_count(); ++part) {
    values[region->argument(static_cast<int>(part))] = left[part];
    values[region->argument(static_cast<int>(part + part_count()))] = right[part];
  }
  auto in_lanes = [&](Value* scalar) {
    return in_lanes_of(kernel_.builder(), scalar, left[0]->getType());
  };
  auto value_of = [&](const ir::Value* value) {
    const auto found = values.find(value);
    return found != values.end() ? found->second : in_lanes(kernel_.scalar(value));
  };
  Parts results;
  for (const ir::Operation* op : *region) {
    if (op->is(Opcode::kYield)) {
      for (const ir::Value* operand : op->operands()) results.push_back(value_of(operand));
    } else if (op->is(Opcode::kConstant)) {
      values[op->result()] =
          in_lanes(constant_of_bits(kernel_.context(), op->result()->type().dtype(),
                                    static_cast<uint64_t>(op->integer(ir::AttributeName::kBits))));
    } else if (op->is(Opcode::kHint)) {
      values[op->result()] = value_of(op->operand(0));
    } else {
      ENC_CHECK(op->record().op_class == ir::OpClass::kElementwise,
                "a combine function with " + std::string(op->record().name));
      llvm::SmallVector<Value*, 3> operands;
      for (const ir::Value* operand : op->operands()) operands.push_back(value_of(operand));
      values[op->result()] = emit_elementwise(kernel_.emission, op, operands);
    }
  }
  return results;
}

}  // namespace enceladus::cpu
