#include "codegen/cpu/elementwise.h"

#include <llvm/IR/Intrinsics.h>

#include <cmath>
#include <limits>

#include "codegen/cpu/casts.h"
#include "codegen/cpu/math.h"
#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::cpu {
namespace {

using ir::Opcode;
using llvm::Value;

class Elementwise {
 public:
  Elementwise(Emission& emission, const ir::Operation* op, llvm::ArrayRef<Value*> operands)
      : emission_(emission),
        builder_(emission.builder),
        op_(op),
        operands_(operands),
        dtype_(op->operand(0)->type().dtype()),
        is_pointer_(op->operand(0)->type().is_pointer()),
        is_float_(!is_pointer_ && is_float(dtype_)) {}

  Value* emit() {
    switch (op_->opcode()) {
      case Opcode::kEq:
      case Opcode::kNe:
      case Opcode::kLt:
      case Opcode::kLe:
      case Opcode::kGt:
      case Opcode::kGe:
        return compare();
      case Opcode::kSelect:
        return builder_.CreateSelect(operands_[2], operands_[0], operands_[1]);
      case Opcode::kCast:
        return emit_cast(emission_, a(), dtype_, op_->result()->type().dtype(), rounding());
      case Opcode::kBitcast:
        return bitcast();
      case Opcode::kMin:
      case Opcode::kMax:
        return emit_extremum(emission_, dtype_, op_->is(Opcode::kMax), nan_rule(), a(), b());
      case Opcode::kAbs:
        return absolute();
      case Opcode::kNot:
        return builder_.CreateNot(a());
      default:
        return is_float_ ? round_to_dtype(emission_, floating(), dtype_) : integral();
    }
  }

 private:
  Value* a() const { return operands_[0]; }
  Value* b() const { return operands_[1]; }

  ir::Rounding rounding() const {
    return static_cast<ir::Rounding>(op_->integer_or(ir::AttributeName::kRounding, 0));
  }
  NanRule nan_rule() const {
    return op_->integer_or(ir::AttributeName::kPropagateNan, 0) != 0 ? NanRule::kPropagate
                                                                     : NanRule::kIgnore;
  }

  Value* compare() {
    using P = llvm::CmpInst::Predicate;
    const bool is_unsigned = is_pointer_ || enceladus::is_unsigned(dtype_);
    auto pick = [&](P floating, P with_sign, P without_sign) {
      return builder_.CreateCmp(is_float_     ? floating
                                : is_unsigned ? without_sign
                                              : with_sign,
                                a(), b());
    };
    switch (op_->opcode()) {
      case Opcode::kEq:
        return pick(P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ);
      case Opcode::kNe:
        return pick(P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE);
      case Opcode::kLt:
        return pick(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT);
      case Opcode::kLe:
        return pick(P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE);
      case Opcode::kGt:
        return pick(P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT);
      default:
        return pick(P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE);
    }
  }

  Value* bitcast() {
    const ir::Type& to = op_->result()->type();
    llvm::Type* type =
        with_lanes_of(register_type(builder_.getContext(), to.element()), a()->getType());
    if (is_pointer_) return to.is_pointer() ? a() : builder_.CreatePtrToInt(a(), type);
    if (to.is_pointer()) return builder_.CreateIntToPtr(a(), type);
    if (is_bool(dtype_) || is_bool(to.dtype())) return a();
    Value* bits = to_memory(emission_, a(), dtype_);
    llvm::Type* memory =
        with_lanes_of(memory_type(builder_.getContext(), to.element()), a()->getType());
    return from_memory(emission_, builder_.CreateBitCast(bits, memory), to.dtype());
  }

  Value* absolute() {
    if (is_float_) return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a());
    if (is_unsigned(dtype_)) return a();
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a(), builder_.getFalse());
  }

  Value* floating() {
    switch (op_->opcode()) {
      case Opcode::kNeg:
        return builder_.CreateFNeg(a());
      case Opcode::kAdd:
        return builder_.CreateFAdd(a(), b());
      case Opcode::kSub:
        return builder_.CreateFSub(a(), b());
      case Opcode::kMul:
        return builder_.CreateFMul(a(), b());
      case Opcode::kDiv:
        return builder_.CreateFDiv(a(), b());
      case Opcode::kFma:
        return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {a()->getType()},
                                        {a(), b(), operands_[2]});
      default:
        return emit_math(emission_, op_->opcode(), dtype_, operands_);
    }
  }

  Value* shift_amount() {
    return builder_.CreateAnd(b(), integer_like(b(), bit_width(dtype_) - 1));
  }

  Value* integral() {
    switch (op_->opcode()) {
      case Opcode::kNeg:
        return builder_.CreateNeg(a());
      case Opcode::kAdd:
        return builder_.CreateAdd(a(), b());
      case Opcode::kSub:
        return builder_.CreateSub(a(), b());
      case Opcode::kMul:
        return builder_.CreateMul(a(), b());
      case Opcode::kDiv:
        return divide();
      case Opcode::kRem:
        return remainder();
      case Opcode::kAnd:
        return builder_.CreateAnd(a(), b());
      case Opcode::kOr:
        return builder_.CreateOr(a(), b());
      case Opcode::kXor:
        return builder_.CreateXor(a(), b());
      case Opcode::kShl:
        return builder_.CreateShl(a(), shift_amount());
      case Opcode::kShr:
        return is_signed(dtype_) ? builder_.CreateAShr(a(), shift_amount())
                                 : builder_.CreateLShr(a(), shift_amount());
      case Opcode::kUMulHi:
        return multiply_high();
      default:
        ENC_CHECK(false, std::string(op_->record().name) + " has no integer form");
        return nullptr;
    }
  }

  // A divisor that can neither be 0 nor overflow: 1 in place of 0, and of -1 (the caller puts the
  // right result in).
  struct SafeDivision {
    Value* is_zero;
    Value* is_minus_one;  // null for unsigned types
    Value* divisor;
  };
  SafeDivision make_safe() {
    Value* zero = builder_.CreateIsNull(b());
    if (!is_signed(dtype_))
      return {zero, nullptr, builder_.CreateSelect(zero, integer_like(b(), 1), b())};
    Value* minus_one = builder_.CreateICmpEQ(b(), integer_like(b(), -1));
    Value* unsafe = builder_.CreateOr(zero, minus_one);
    return {zero, minus_one, builder_.CreateSelect(unsafe, integer_like(b(), 1), b())};
  }

  // A constant divisor other than 0 and -1 needs no care, and LLVM turns it into a product.
  bool divides_by_plain_constant() const {
    auto* constant = llvm::dyn_cast<llvm::Constant>(b());
    if (constant == nullptr) return false;
    if (constant->getType()->isVectorTy()) constant = constant->getSplatValue();
    auto* integer = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
    return integer != nullptr && !integer->isZero() && !integer->isMinusOne();
  }

  Value* divide() {
    const bool has_sign = is_signed(dtype_);
    auto quotient = [&](Value* divisor) {
      return has_sign ? builder_.CreateSDiv(a(), divisor) : builder_.CreateUDiv(a(), divisor);
    };
    if (divides_by_plain_constant()) return quotient(b());
    const SafeDivision safe = make_safe();
    Value* result = quotient(safe.divisor);
    if (has_sign)
      result = builder_.CreateSelect(safe.is_minus_one, builder_.CreateNeg(a()), result);
    return builder_.CreateSelect(safe.is_zero, integer_like(a(), 0), result);
  }

  Value* remainder() {
    const bool has_sign = is_signed(dtype_);
    auto rest = [&](Value* divisor) {
      return has_sign ? builder_.CreateSRem(a(), divisor) : builder_.CreateURem(a(), divisor);
    };
    if (divides_by_plain_constant()) return rest(b());
    const SafeDivision safe = make_safe();  // x % -1 is 0, as x % 1 is
    return builder_.CreateSelect(safe.is_zero, a(), rest(safe.divisor));
  }

  Value* multiply_high() {
    const int width = bit_width(dtype_);
    llvm::Type* wide =
        with_lanes_of(builder_.getIntNTy(static_cast<unsigned>(2 * width)), a()->getType());
    Value* product =
        builder_.CreateMul(builder_.CreateZExt(a(), wide), builder_.CreateZExt(b(), wide));
    return builder_.CreateTrunc(builder_.CreateLShr(product, static_cast<uint64_t>(width)),
                                a()->getType());
  }

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  const ir::Operation* op_;
  llvm::ArrayRef<Value*> operands_;
  DType dtype_;
  bool is_pointer_;
  bool is_float_;
};

}  // namespace

Value* emit_elementwise(Emission& emission, const ir::Operation* op,
                        llvm::ArrayRef<Value*> operands) {
  return Elementwise(emission, op, operands).emit();
}

Value* emit_extremum(Emission& emission, DType dtype, bool is_max, NanRule nan_rule, Value* a,
                     Value* b) {
  llvm::IRBuilder<>& builder = emission.builder;
  if (!is_float(dtype)) {
    const bool has_sign = is_signed(dtype);
    const auto id = is_max ? (has_sign ? llvm::Intrinsic::smax : llvm::Intrinsic::umax)
                           : (has_sign ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
    return builder.CreateBinaryIntrinsic(id, a, b);
  }
  if (nan_rule == NanRule::kIgnore)
    return builder.CreateBinaryIntrinsic(is_max ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum,
                                         a, b);
  // Not llvm.maximum: its order of the zeros costs more and nothing asks for it.
  Value* first = is_max ? builder.CreateFCmpUGT(a, b) : builder.CreateFCmpULT(a, b);
  Value* b_is_nan = builder.CreateFCmpUNO(b, b);
  return builder.CreateSelect(b_is_nan, b, builder.CreateSelect(first, a, b));
}

Value* emit_combine(Emission& emission, ir::CombineKind kind, DType dtype, NanRule nan_rule,
                    Value* left, Value* right) {
  llvm::IRBuilder<>& builder = emission.builder;
  switch (kind) {
    case ir::CombineKind::kAdd:
      return is_float(dtype) ? builder.CreateFAdd(left, right) : builder.CreateAdd(left, right);
    case ir::CombineKind::kMultiply:
      return is_float(dtype) ? builder.CreateFMul(left, right) : builder.CreateMul(left, right);
    case ir::CombineKind::kMax:
    case ir::CombineKind::kMin:
      return emit_extremum(emission, dtype, kind == ir::CombineKind::kMax, nan_rule, left, right);
    case ir::CombineKind::kXor:
      return builder.CreateXor(left, right);
    case ir::CombineKind::kArgMax:
    case ir::CombineKind::kArgMin:
    case ir::CombineKind::kCustom:
      break;
  }
  ENC_CHECK(false, "this combination is no plain operation");
  return nullptr;
}

llvm::Constant* combine_identity(llvm::LLVMContext& context, ir::CombineKind kind, DType dtype,
                                 NanRule nan_rule) {
  llvm::Type* type = register_type(context, ir::Type::number(dtype));
  const bool is_max = kind == ir::CombineKind::kMax || kind == ir::CombineKind::kArgMax;
  const bool is_extremum =
      is_max || kind == ir::CombineKind::kMin || kind == ir::CombineKind::kArgMin;
  if (is_float(dtype)) {
    if (kind == ir::CombineKind::kMultiply) return llvm::ConstantFP::get(type, 1.0);
    if (!is_extremum) return llvm::ConstantFP::get(type, -0.0);
    if (nan_rule == NanRule::kIgnore) return llvm::ConstantFP::getNaN(type);
    return llvm::ConstantFP::getInfinity(type, is_max);
  }
  const unsigned width = static_cast<unsigned>(bit_width(dtype));
  if (is_extremum) {
    const bool has_sign = is_signed(dtype);
    llvm::APInt bits =
        is_max
            ? (has_sign ? llvm::APInt::getSignedMinValue(width) : llvm::APInt::getMinValue(width))
            : (has_sign ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width));
    return llvm::ConstantInt::get(context, bits);
  }
  return llvm::ConstantInt::get(type, kind == ir::CombineKind::kMultiply ? 1 : 0);
}

}  // namespace enceladus::cpu
