// erf and tanh of float32: an odd polynomial near zero, an exponential away from it. Both sides are
// computed and one is chosen, so that lanes need no branches; still several times faster than a
// call of SLEEF.

#include "codegen/cpu/math.h"
#include "codegen/cpu/math_inline.h"

namespace enceladus::cpu {
namespace {

using llvm::Value;

// (erf(x) - x) / x in powers of x^2, up to 0.9277.
constexpr double kErfNearZero[] = {1.28379166e-1,  -3.76125336e-1, 1.12819925e-1,
                                   -2.67681349e-2, 4.99119423e-3,  -5.96761703e-4};
constexpr double kErfNearZeroEnds = 0.927734375;
// log(1 - erf(x)) / x + 1, up to where erf rounds to 1.
constexpr double kErfTail[] = {-1.28717512e-1, -6.34846687e-1, -1.06777877e-1, 2.42546219e-2,
                               -3.88396438e-3, 3.83197126e-4,  -1.72853470e-5};
// (tanh(x) - x) / x^3 in powers of x^2, up to 0.55.
constexpr double kTanhNearZero[] = {-3.33327681e-1, 1.33152366e-1, -5.23025580e-2, 1.57394409e-2};
constexpr double kTanhNearZeroEnds = 0.55;

class OddFunction : InlineMath {
 public:
  OddFunction(Emission& emission, Value* x)
      : InlineMath(emission),
        x_(x),
        size_(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x)),
        square_(builder_.CreateFMul(x, x)) {}

  Value* erf() {
    Value* rest = fma(polynomial(size_, kErfTail), size_, builder_.CreateFNeg(size_));
    Value* tail = builder_.CreateFSub(float_like(x_, 1.0), emit_exp(emission_, rest));
    return joined(polynomial(square_, kErfNearZero), kErfNearZeroEnds, tail);
  }

  Value* tanh() {  // 1 - 2 / (exp(2 x) + 1)
    Value* power = emit_exp(emission_, builder_.CreateFAdd(size_, size_));
    Value* one = float_like(x_, 1.0);
    Value* missing = builder_.CreateFDiv(float_like(x_, 2.0), builder_.CreateFAdd(power, one));
    Value* factor = builder_.CreateFMul(polynomial(square_, kTanhNearZero), square_);
    return joined(factor, kTanhNearZeroEnds, builder_.CreateFSub(one, missing));
  }

 private:
  // x + factor * x near zero (and for NaN), else the tail; with the sign of x.
  Value* joined(Value* factor, double ends, Value* tail) {
    Value* near_zero = fma(factor, x_, x_);
    Value* is_tail = builder_.CreateFCmpOGE(size_, float_like(x_, ends));
    Value* chosen = builder_.CreateSelect(is_tail, tail, near_zero);
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, chosen, x_);
  }

  Value* x_;
  Value* size_;
  Value* square_;
};

}  // namespace

Value* emit_erf(Emission& emission, Value* x) { return OddFunction(emission, x).erf(); }
Value* emit_tanh(Emission& emission, Value* x) { return OddFunction(emission, x).tanh(); }

}  // namespace enceladus::cpu
