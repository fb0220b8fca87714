// What every emitter of this folder writes into: a builder with its module and host, and how
// values look in LLVM registers and in memory.
//
// In registers: float16 and bfloat16 are float32 values that are always exactly representable in
// the narrow type (each operation rounds its result); floats of 8 bits, in which nothing computes,
// are their bits; int1 is i1; pointers are `ptr`. In memory: as in arrays, int1 a byte of 0 or 1.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen/cpu/host_target.h"
#include "ir/ir.h"

namespace enceladus::cpu {

struct Emission {
  llvm::IRBuilder<>& builder;
  llvm::Module& module;
  const HostTarget& host;
  ir::MathMode math_mode;
};

llvm::Type* register_type(llvm::LLVMContext& context, const ir::Type& element);
llvm::Type* memory_type(llvm::LLVMContext& context, const ir::Type& element);
int64_t element_bytes(const ir::Type& element);  // in memory

// `like` is a scalar or vector type; the result has its lanes.
llvm::Type* with_lanes_of(llvm::Type* element, llvm::Type* like);
llvm::Constant* integer_like(llvm::Value* like, int64_t value);  // of the type of `like`
// The scalar in every lane that `like` has; itself where `like` is no vector.
llvm::Value* in_lanes_of(llvm::IRBuilder<>& builder, llvm::Value* scalar, llvm::Type* like);
// Whether any lane of the mask is set; the mask itself where it is no vector.
llvm::Value* any_lane(llvm::IRBuilder<>& builder, llvm::Value* mask);
llvm::Constant* float_like(llvm::Value* like, double value);

// Number elements (not pointers) as they lie in memory, and back. Scalars or vectors.
llvm::Value* to_memory(Emission& emission, llvm::Value* value, DType dtype);
llvm::Value* from_memory(Emission& emission, llvm::Value* value, DType dtype);

// The constant of the dtype with these bits, as it is held in a register.
llvm::Constant* constant_of_bits(llvm::LLVMContext& context, DType dtype, uint64_t bits);

}  // namespace enceladus::cpu
