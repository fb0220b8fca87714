#include "codegen/cpu/casts.h"

#include <llvm/IR/Intrinsics.h>

#include "codegen/cpu/float8.h"
#include "ir/builder.h"

namespace enceladus::cpu {
namespace {

using llvm::Value;

class Caster {
 public:
  explicit Caster(Emission& emission) : emission_(emission), builder_(emission.builder) {}

  Value* to_bool(Value* value) {
    if (!value->getType()->isFPOrFPVectorTy()) return builder_.CreateIsNotNull(value);
    return builder_.CreateFCmpUNE(value, float_like(value, 0.0));
  }

  Value* float_to_integer(Value* value, DType to) {
    llvm::Type* type = lanes(integer_type(to), value);
    const auto intrinsic =
        is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return builder_.CreateIntrinsic(intrinsic, {type, value->getType()}, {value});
  }

  Value* integer_to_float(Value* value, DType from, DType to) {
    if (to == DType::kBFloat16 && bit_width(from) > 16)
      return round_to_dtype(emission_, to_odd(integer_to_sticky_double(value, from)), to);
    llvm::Type* type = lanes(register_type(builder_.getContext(), ir::Type::number(to)), value);
    // Through float32, float16 rounds once: below 2^24 the first step is exact, above it both
    // overflow.
    return round_to_dtype(emission_, convert(value, from, type), to);
  }

  Value* float_to_float(Value* value, DType from, DType to, ir::Rounding rounding) {
    const bool is_wide = from == DType::kFloat64;
    if (to == DType::kFloat64)
      return builder_.CreateFPExt(value, lanes(builder_.getDoubleTy(), value));
    if (rounding == ir::Rounding::kTowardZero) {
      if (is_wide) value = toward_zero(value, truncate(value));
      return to == DType::kFloat32 ? value
                                   : toward_zero(value, round_to_dtype(emission_, value, to), to);
    }
    if (!is_wide) return round_to_dtype(emission_, value, to);
    return to == DType::kFloat32 ? truncate(value) : round_to_dtype(emission_, to_odd(value), to);
  }

  // Beyond 2^24 an integer that float32 rounds is out of range all the same.
  Value* to_float8(Value* value, DType from, DType to, ir::Rounding rounding) {
    llvm::Type* single = lanes(builder_.getFloatTy(), value);
    if (from == DType::kFloat64) value = to_odd(value);
    if (is_bool(from) || is_integer(from)) value = convert(value, from, single);
    return narrow_to_float8(builder_, value, to, rounding);
  }

  Value* float_to_bfloat_bits(Value* value) {
    llvm::Type* word = lanes(builder_.getInt32Ty(), value);
    Value* bits = builder_.CreateBitCast(value, word);
    Value* odd = builder_.CreateAnd(builder_.CreateLShr(bits, 16), integer_like(bits, 1));
    Value* rounded = builder_.CreateAdd(bits, builder_.CreateAdd(odd, integer_like(bits, 0x7fff)));
    Value* quiet = builder_.CreateOr(bits, integer_like(bits, 0x400000));
    Value* is_nan = builder_.CreateFCmpUNO(value, value);
    return builder_.CreateLShr(builder_.CreateSelect(is_nan, quiet, rounded), 16);
  }

 private:
  llvm::Type* lanes(llvm::Type* element, Value* like) {
    return with_lanes_of(element, like->getType());
  }
  llvm::Type* integer_type(DType dtype) {
    return builder_.getIntNTy(static_cast<unsigned>(bit_width(dtype)));
  }
  Value* convert(Value* value, DType from, llvm::Type* type) {
    return is_signed(from) ? builder_.CreateSIToFP(value, type)
                           : builder_.CreateUIToFP(value, type);
  }
  Value* truncate(Value* value) {
    return builder_.CreateFPTrunc(value, lanes(builder_.getFloatTy(), value));
  }

  // An integer as a double; where 53 bits are not enough, the bits that do not fit are folded into
  // the last one that does, so that a later rounding to fewer bits is right.
  Value* integer_to_sticky_double(Value* value, DType from) {
    llvm::Type* type = lanes(builder_.getDoubleTy(), value);
    if (bit_width(from) <= 32) return convert(value, from, type);
    Value* low = builder_.CreateAnd(value, integer_like(value, 0x7ff));
    Value* kept = builder_.CreateAnd(value, integer_like(value, ~int64_t{0x7ff}));
    Value* sticky = builder_.CreateSelect(
        builder_.CreateIsNotNull(low), builder_.CreateOr(kept, integer_like(value, 0x800)), kept);
    const int64_t limit = int64_t{1} << 52;
    Value* is_small = is_signed(from) ? builder_.CreateICmpULT(
                                            builder_.CreateAdd(value, integer_like(value, limit)),
                                            integer_like(value, 2 * limit))
                                      : builder_.CreateICmpULT(value, integer_like(value, limit));
    return convert(builder_.CreateSelect(is_small, value, sticky), from, type);
  }

  // float64 to float32, rounded to odd: toward zero, with the last bit set where inexact.
  Value* to_odd(Value* value) {
    Value* nearest = truncate(value);
    Value* cut = toward_zero(value, nearest);
    Value* exact = builder_.CreateFCmpUEQ(builder_.CreateFPExt(cut, value->getType()), value);
    llvm::Type* word = lanes(builder_.getInt32Ty(), value);
    Value* bits = builder_.CreateBitCast(cut, word);
    Value* odd = builder_.CreateOr(bits, integer_like(bits, 1));
    return builder_.CreateBitCast(builder_.CreateSelect(exact, bits, odd), cut->getType());
  }

  Value* magnitude(Value* value) {
    return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  }

  // `nearest` (float32) is `exact` rounded to nearest; one step back where it grew in magnitude.
  Value* toward_zero(Value* exact, Value* nearest) {
    Value* widened = builder_.CreateFPExt(nearest, exact->getType());
    Value* grew = builder_.CreateFCmpOGT(magnitude(widened), magnitude(exact));
    llvm::Type* word = lanes(builder_.getInt32Ty(), nearest);
    Value* bits = builder_.CreateBitCast(nearest, word);
    Value* stepped = builder_.CreateSub(bits, integer_like(bits, 1));
    return builder_.CreateBitCast(builder_.CreateSelect(grew, stepped, bits), nearest->getType());
  }

  // The same for a narrow type, both held as float32.
  Value* toward_zero(Value* exact, Value* nearest, DType dtype) {
    Value* grew = builder_.CreateFCmpOGT(magnitude(nearest), magnitude(exact));
    Value* bits = narrow_float_bits(emission_, nearest, dtype);
    Value* stepped = builder_.CreateSub(bits, integer_like(bits, 1));
    return widen_float_bits(emission_, builder_.CreateSelect(grew, stepped, bits), dtype);
  }

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
};

}  // namespace

Value* narrow_float_bits(Emission& emission, Value* value, DType dtype) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* half_word = with_lanes_of(builder.getInt16Ty(), value->getType());
  if (dtype == DType::kFloat16) {
    llvm::Type* half = with_lanes_of(builder.getHalfTy(), value->getType());
    return builder.CreateBitCast(builder.CreateFPTrunc(value, half), half_word);
  }
  // The register holds a bfloat16 exactly, so its upper half is the answer.
  llvm::Type* word = with_lanes_of(builder.getInt32Ty(), value->getType());
  return builder.CreateTrunc(builder.CreateLShr(builder.CreateBitCast(value, word), 16), half_word);
}

Value* widen_float_bits(Emission& emission, Value* bits, DType dtype) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* single = with_lanes_of(builder.getFloatTy(), bits->getType());
  if (dtype == DType::kFloat16) {
    llvm::Type* half = with_lanes_of(builder.getHalfTy(), bits->getType());
    return builder.CreateFPExt(builder.CreateBitCast(bits, half), single);
  }
  llvm::Type* word = with_lanes_of(builder.getInt32Ty(), bits->getType());
  return builder.CreateBitCast(builder.CreateShl(builder.CreateZExt(bits, word), 16), single);
}

Value* round_to_dtype(Emission& emission, Value* value, DType dtype) {
  llvm::IRBuilder<>& builder = emission.builder;
  if (dtype == DType::kFloat16)
    return widen_float_bits(emission, narrow_float_bits(emission, value, dtype), dtype);
  if (dtype != DType::kBFloat16) return value;
  Value* bits = Caster(emission).float_to_bfloat_bits(value);
  return builder.CreateBitCast(builder.CreateShl(bits, 16), value->getType());
}

Value* emit_cast(Emission& emission, Value* value, DType from, DType to, ir::Rounding rounding) {
  if (from == to) return value;
  Caster caster(emission);
  llvm::IRBuilder<>& builder = emission.builder;
  if (is_float8(from)) {
    value = widen_float8(builder, value, from);
    from = DType::kFloat32;
  }
  if (is_float8(to)) return caster.to_float8(value, from, to, rounding);
  if (is_bool(to)) return caster.to_bool(value);
  if (is_float(from))
    return is_float(to) ? caster.float_to_float(value, from, to, rounding)
                        : caster.float_to_integer(value, to);
  if (is_float(to)) return caster.integer_to_float(value, from, to);
  llvm::Type* type =
      with_lanes_of(builder.getIntNTy(static_cast<unsigned>(bit_width(to))), value->getType());
  return is_signed(from) ? builder.CreateSExtOrTrunc(value, type)
                         : builder.CreateZExtOrTrunc(value, type);
}

}  // namespace enceladus::cpu
