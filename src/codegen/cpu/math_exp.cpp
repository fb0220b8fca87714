// exp and exp2 of float32 by range reduction and a polynomial of degree 6: measured faster than a
// call of SLEEF, which takes all vector registers away from the loop around it.

#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/cpu/math.h"
#include "codegen/cpu/math_inline.h"

namespace enceladus::cpu {
namespace {

using llvm::Value;

// Fitted at Chebyshev nodes to (f(r) - 1) / r over half a period on either side.
constexpr double kExpCoefficients[] = {1.0,
                                       1.0,
                                       0.5,
                                       0.16666504740715027,
                                       0.04166646674275398,
                                       0.008369148708879948,
                                       0.0013933641603216529};
constexpr double kExp2Coefficients[] = {1.0,
                                        0.6931471824645996,
                                        0.24022650718688965,
                                        0.055503569543361664,
                                        0.009618083015084267,
                                        0.0013390863314270973,
                                        0.00015453163359779865};
constexpr double kLog2E = 1.44269504;
// ln 2 in two parts; the upper one has trailing zeros, so that n times it is exact.
constexpr double kLn2Upper = 0.693359375;
constexpr double kLn2Lower = -2.12194440e-4;
// Adding it rounds a small float32 to an integer and leaves that integer in the last bits.
constexpr double kRoundingShift = 12582912.0;  // 1.5 * 2^23
constexpr int64_t kRoundingShiftBits = 0x4b400000;

class Exponential : InlineMath {
 public:
  using InlineMath::InlineMath;

  // The constant is the first operand so that a NaN comes through, as x86's max and min do it.
  Value* clamp(Value* x, double low, double high) {
    Value* bottom = float_like(x, low);
    x = builder_.CreateSelect(builder_.CreateFCmpOGT(bottom, x), bottom, x);
    Value* top = float_like(x, high);
    return builder_.CreateSelect(builder_.CreateFCmpOLT(top, x), top, x);
  }

  Value* exp(Value* x) {
    x = clamp(x, -104.0, 89.0);
    Value* shifted = fma(x, float_like(x, kLog2E), float_like(x, kRoundingShift));
    Value* n = builder_.CreateFSub(shifted, float_like(x, kRoundingShift));
    Value* rest = fma(n, float_like(x, -kLn2Upper), x);
    rest = fma(n, float_like(x, -kLn2Lower), rest);
    return scale(polynomial(rest, kExpCoefficients), n, shifted);
  }

  Value* exp2(Value* x) {
    x = clamp(x, -151.0, 129.0);
    Value* shifted = builder_.CreateFAdd(x, float_like(x, kRoundingShift));
    Value* n = builder_.CreateFSub(shifted, float_like(x, kRoundingShift));
    return scale(polynomial(builder_.CreateFSub(x, n), kExp2Coefficients), n, shifted);
  }

 private:
  // value * 2^n. n may pass the exponent's range on either side, so the power is applied in two
  // halves; the first product is exact, the second rounds once (to a subnormal, zero, infinity).
  Value* scale(Value* value, Value* n, Value* shifted) {
    if (Value* scaled = scale_by_instruction(value, n)) return scaled;
    llvm::Type* word = with_lanes_of(builder_.getInt32Ty(), value->getType());
    Value* bits = builder_.CreateBitCast(shifted, word);
    Value* exponent = builder_.CreateSub(bits, integer_like(bits, kRoundingShiftBits));
    Value* half = builder_.CreateAShr(exponent, integer_like(bits, 1));
    Value* other = builder_.CreateSub(exponent, half);
    return builder_.CreateFMul(builder_.CreateFMul(value, power_of_two(half, value)),
                               power_of_two(other, value));
  }

  Value* power_of_two(Value* exponent, Value* like) {
    Value* biased = builder_.CreateAdd(exponent, integer_like(exponent, 127));
    return builder_.CreateBitCast(builder_.CreateShl(biased, integer_like(exponent, 23)),
                                  like->getType());
  }

  Value* scale_by_instruction(Value* value, Value* n) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    const bool is_zmm = vector != nullptr && vector->getNumElements() == 16;
    if (!is_zmm || emission_.host.architecture != Architecture::kX86 ||
        emission_.host.vector_bytes != 64)
      return nullptr;
    constexpr int kCurrentRounding = 4;
    return builder_.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
        {value, n, value, builder_.getInt16(0xffff), builder_.getInt32(kCurrentRounding)});
  }
};

}  // namespace

Value* emit_exp(Emission& emission, Value* x) { return Exponential(emission).exp(x); }
Value* emit_exp2(Emission& emission, Value* x) { return Exponential(emission).exp2(x); }

}  // namespace enceladus::cpu
