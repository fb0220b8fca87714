#include "codegen/cpu/float8.h"

#include "support/floats.h"

namespace enceladus::cpu {
namespace {

using llvm::Value;

constexpr int kFloatMantissaBits = 23, kFloatBias = 127;

class Float8 {
 public:
  Float8(llvm::IRBuilderBase& builder, DType dtype, llvm::Type* like)
      : builder_(builder),
        format_(dtype == DType::kFloat8E4M3 ? kFloat8E4M3Format : kFloat8E5M2Format),
        bias_((1 << (format_.exponent_bits - 1)) - 1),
        shift_(kFloatMantissaBits - format_.mantissa_bits),
        byte_(with_lanes(builder.getInt8Ty(), like)),
        word_(with_lanes(builder.getInt32Ty(), like)),
        single_(with_lanes(builder.getFloatTy(), like)) {}

  Value* widen(Value* bits) {
    Value* wide = builder_.CreateZExt(bits, word_);
    Value* magnitude = builder_.CreateAnd(wide, word(0x7f));
    // Denormal numbers are counted in units; the others keep their bits under another bias.
    Value* shifted = builder_.CreateShl(magnitude, word(static_cast<uint32_t>(shift_)));
    Value* normal = builder_.CreateAdd(
        shifted, word(static_cast<uint32_t>(kFloatBias - bias_) << kFloatMantissaBits));
    Value* count = builder_.CreateSIToFP(magnitude, single_);
    Value* denormal =
        as_word(builder_.CreateFMul(count, as_single(power(1 - bias_ - format_.mantissa_bits))));
    Value* is_denormal = builder_.CreateICmpULT(magnitude, word(1u << format_.mantissa_bits));
    Value* result = builder_.CreateSelect(is_denormal, denormal, normal);
    Value* beyond =
        format_.has_infinity ? builder_.CreateOr(shifted, word(0x7f800000)) : word(0x7fc00000);
    Value* is_beyond =
        builder_.CreateICmpUGT(magnitude, word(static_cast<uint32_t>(format_.largest())));
    result = builder_.CreateSelect(is_beyond, beyond, result);
    Value* sign = builder_.CreateShl(builder_.CreateAnd(wide, word(0x80)), word(24));
    return as_single(builder_.CreateOr(result, sign));
  }

  Value* narrow(Value* value, bool cuts) {
    Value* bits = as_word(value);
    Value* magnitude = builder_.CreateAnd(bits, word(0x7fffffff));
    Value* normal = builder_.CreateLShr(cuts ? magnitude : rounded(magnitude),
                                        word(static_cast<uint32_t>(shift_)));
    const int rebias = (kFloatBias - bias_) << format_.mantissa_bits;
    normal = builder_.CreateSub(normal, word(static_cast<uint32_t>(rebias)));
    Value* largest = word(static_cast<uint32_t>(format_.largest()));
    normal = builder_.CreateSelect(builder_.CreateICmpUGT(normal, largest), largest, normal);
    Value* is_denormal = builder_.CreateICmpULT(magnitude, power(1 - bias_));
    Value* result = builder_.CreateSelect(is_denormal, denormal(magnitude, cuts), normal);
    Value* is_nan = builder_.CreateICmpUGT(magnitude, word(0x7f800000));
    result = builder_.CreateSelect(is_nan, word(0x7f), result);
    Value* sign = builder_.CreateAnd(builder_.CreateLShr(bits, word(24)), word(0x80));
    return builder_.CreateTrunc(builder_.CreateOr(result, sign), byte_);
  }

 private:
  static llvm::Type* with_lanes(llvm::Type* element, llvm::Type* like) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
    return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
  }
  llvm::Constant* word(uint32_t value) { return llvm::ConstantInt::get(word_, value); }
  llvm::Constant* power(int exponent) {  // the bits of 2^exponent
    return word(static_cast<uint32_t>(exponent + kFloatBias) << kFloatMantissaBits);
  }
  Value* as_word(Value* value) { return builder_.CreateBitCast(value, word_); }
  Value* as_single(Value* value) { return builder_.CreateBitCast(value, single_); }

  // To the next multiple of the last place, ties to even.
  Value* rounded(Value* magnitude) {
    Value* odd = builder_.CreateAnd(
        builder_.CreateLShr(magnitude, word(static_cast<uint32_t>(shift_))), word(1));
    Value* below_half = word((1u << (shift_ - 1)) - 1);
    return builder_.CreateAdd(magnitude, builder_.CreateAdd(odd, below_half));
  }

  Value* denormal(Value* magnitude, bool cuts) {
    if (cuts) {
      Value* units = builder_.CreateFMul(as_single(magnitude),
                                         as_single(power(bias_ - 1 + format_.mantissa_bits)));
      // Saturating, since lanes that hold no denormal number may be out of range.
      return builder_.CreateIntrinsic(llvm::Intrinsic::fptoui_sat, {word_, single_}, {units});
    }
    // A sum whose last place is a unit of the denormal numbers rounds to it.
    llvm::Constant* base = power(1 - bias_ + shift_);
    return builder_.CreateSub(as_word(builder_.CreateFAdd(as_single(magnitude), as_single(base))),
                              base);
  }

  llvm::IRBuilderBase& builder_;
  FloatFormat format_;
  int bias_, shift_;
  llvm::Type *byte_, *word_, *single_;
};

}  // namespace

Value* widen_float8(llvm::IRBuilderBase& builder, Value* bits, DType from) {
  return Float8(builder, from, bits->getType()).widen(bits);
}

Value* narrow_to_float8(llvm::IRBuilderBase& builder, Value* value, DType to,
                        ir::Rounding rounding) {
  return Float8(builder, to, value->getType()).narrow(value, rounding == ir::Rounding::kTowardZero);
}

}  // namespace enceladus::cpu
