// What the inline math functions share. They are exact only as written, so while an InlineMath
// lives the builder sets no fast-math flags, whatever the math mode.
#pragma once

#include <llvm/IR/Intrinsics.h>

#include "codegen/cpu/emission.h"

namespace enceladus::cpu {

class InlineMath {
 public:
  explicit InlineMath(Emission& emission)
      : emission_(emission), builder_(emission.builder), guard_(emission.builder) {
    builder_.clearFastMathFlags();
  }

  llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    // Without the instruction, two roundings: still within the bound, and no library call.
    if (!emission_.host.has_fma) return builder_.CreateFAdd(builder_.CreateFMul(a, b), c);
    return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  }

  // coefficients[0] + coefficients[1] * x + ..., by Horner's rule.
  llvm::Value* polynomial(llvm::Value* x, llvm::ArrayRef<double> coefficients) {
    llvm::Value* sum = float_like(x, coefficients.back());
    for (size_t i = coefficients.size() - 1; i-- > 0;)
      sum = fma(sum, x, float_like(x, coefficients[i]));
    return sum;
  }

 protected:
  Emission& emission_;
  llvm::IRBuilder<>& builder_;

 private:
  llvm::IRBuilderBase::FastMathFlagGuard guard_;
};

}  // namespace enceladus::cpu
