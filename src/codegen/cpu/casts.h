// Conversions between number types by the rules of the language: floats to integers truncate,
// saturate and give 0 for NaN; every conversion rounds once; anything to int1 is `x != 0`.
#pragma once

#include "codegen/cpu/emission.h"
#include "ir/opcode.h"

namespace enceladus::cpu {

// Register values of scalars or vectors.
llvm::Value* emit_cast(Emission& emission, llvm::Value* value, DType from, DType to,
                       ir::Rounding rounding);

// float32 to the nearest float16 or bfloat16, kept as float32; other dtypes: the value itself.
llvm::Value* round_to_dtype(Emission& emission, llvm::Value* value, DType dtype);

// The 16 bits of a float16 or bfloat16 that a register holds as float32, and back.
llvm::Value* narrow_float_bits(Emission& emission, llvm::Value* value, DType dtype);
llvm::Value* widen_float_bits(Emission& emission, llvm::Value* bits, DType dtype);

}  // namespace enceladus::cpu
