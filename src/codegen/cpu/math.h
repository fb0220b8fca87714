// Math functions on register values: inline polynomials for exp, exp2, erf and tanh, LLVM's
// intrinsics where the machine has an instruction, SLEEF's vector functions for the rest. At most 4
// ulp.
#pragma once

#include "codegen/cpu/emission.h"

namespace enceladus::cpu {

// `operands` are float32 registers for float16 and bfloat16 (the caller rounds), else of `dtype`.
llvm::Value* emit_math(Emission& emission, ir::Opcode opcode, DType dtype,
                       llvm::ArrayRef<llvm::Value*> operands);

// float32, inline: 1 ulp, gradual underflow, -inf gives 0, NaN passes.
llvm::Value* emit_exp(Emission& emission, llvm::Value* x);
llvm::Value* emit_exp2(Emission& emission, llvm::Value* x);

// float32, inline: 1 and 2 ulp, odd, NaN passes.
llvm::Value* emit_erf(Emission& emission, llvm::Value* x);
llvm::Value* emit_tanh(Emission& emission, llvm::Value* x);

}  // namespace enceladus::cpu
