#include "codegen/cpu/math.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "support/check.h"

namespace enceladus::cpu {
namespace {

using ir::Opcode;
using llvm::Value;

std::string_view sleef_stem(Opcode opcode) {
  switch (opcode) {
    case Opcode::kExp:
      return "exp";
    case Opcode::kExp2:
      return "exp2";
    case Opcode::kLog:
      return "log";
    case Opcode::kLog2:
      return "log2";
    case Opcode::kSin:
      return "sin";
    case Opcode::kCos:
      return "cos";
    case Opcode::kTanh:
      return "tanh";
    case Opcode::kErf:
      return "erf";
    default:
      return {};
  }
}

std::string_view sleef_machine(const HostTarget& host) {
  if (host.architecture == Architecture::kArm64) return "advsimd";
  return host.vector_bytes == 64 ? "avx512f" : host.vector_bytes == 32 ? "avx2" : "sse2";
}

// SLEEF's vector functions take one native vector: `Sleef_sinf8_u10avx2`.
class VectorCall {
 public:
  VectorCall(Emission& emission, Opcode opcode, llvm::Type* element)
      : emission_(emission), builder_(emission.builder) {
    const bool is_double = element->isDoubleTy();
    lanes_ = emission.host.lanes(is_double ? 8 : 4);
    type_ = llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes_));
    name_ = "Sleef_" + std::string(sleef_stem(opcode)) + (is_double ? "d" : "f") +
            std::to_string(lanes_) + "_u10" + std::string(sleef_machine(emission.host));
  }

  Value* call(llvm::ArrayRef<Value*> operands) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(operands[0]->getType());
    if (vector == nullptr) return call_scalar(operands);
    const int lanes = static_cast<int>(vector->getNumElements());
    llvm::SmallVector<Value*, 8> pieces;
    for (int first = 0; first < lanes; first += lanes_) {
      llvm::SmallVector<Value*, 2> arguments;
      for (Value* operand : operands) arguments.push_back(piece(operand, first, lanes));
      pieces.push_back(call_native(arguments));
    }
    return join(pieces, lanes);
  }

 private:
  Value* call_scalar(llvm::ArrayRef<Value*> operands) {
    llvm::SmallVector<Value*, 2> arguments;
    for (Value* operand : operands)
      arguments.push_back(builder_.CreateVectorSplat(static_cast<unsigned>(lanes_), operand));
    return builder_.CreateExtractElement(call_native(arguments), uint64_t{0});
  }

  // Lanes [first, first + native) of a vector; past its end the first lane again, so that nothing
  // strange is computed there.
  Value* piece(Value* operand, int first, int lanes) {
    if (lanes == lanes_) return operand;
    llvm::SmallVector<int, 16> mask;
    for (int lane = first; lane < first + lanes_; ++lane) mask.push_back(lane < lanes ? lane : 0);
    return builder_.CreateShuffleVector(operand, mask);
  }

  Value* join(llvm::ArrayRef<Value*> pieces, int lanes) {
    if (lanes == lanes_) return pieces[0];
    Value* all = llvm::concatenateVectors(builder_, pieces);
    llvm::SmallVector<int, 16> mask;
    for (int lane = 0; lane < lanes; ++lane) mask.push_back(lane);
    return pieces.size() == 1 ? builder_.CreateShuffleVector(all, mask) : all;
  }

  Value* call_native(llvm::ArrayRef<Value*> arguments) {
    llvm::SmallVector<llvm::Type*, 2> types(arguments.size(), type_);
    llvm::FunctionCallee callee =
        emission_.module.getOrInsertFunction(name_, llvm::FunctionType::get(type_, types, false));
    auto* function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setDoesNotAccessMemory();
    function->setDoesNotThrow();
    function->setWillReturn();
    function->setSpeculatable();
    return builder_.CreateCall(callee, arguments);
  }

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  int lanes_;
  llvm::FixedVectorType* type_;
  std::string name_;
};

}  // namespace

Value* emit_math(Emission& emission, Opcode opcode, DType dtype, llvm::ArrayRef<Value*> operands) {
  llvm::IRBuilder<>& builder = emission.builder;
  Value* x = operands[0];
  switch (opcode) {
    case Opcode::kSqrt:
    case Opcode::kSqrtRn:
      return builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    case Opcode::kRsqrt:
      return builder.CreateFDiv(float_like(x, 1.0),
                                builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
    case Opcode::kDivRn:
      return builder.CreateFDiv(x, operands[1]);
    case Opcode::kRem:  // fmod of the C library: exact for any quotient
      return builder.CreateFRem(x, operands[1]);
    case Opcode::kFloor:
      return builder.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
    case Opcode::kCeil:
      return builder.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, x);
    case Opcode::kExp:
      if (dtype != DType::kFloat64) return emit_exp(emission, x);
      break;
    case Opcode::kExp2:
      if (dtype != DType::kFloat64) return emit_exp2(emission, x);
      break;
    case Opcode::kErf:
      if (dtype != DType::kFloat64) return emit_erf(emission, x);
      break;
    case Opcode::kTanh:
      if (dtype != DType::kFloat64) return emit_tanh(emission, x);
      break;
    default:
      break;
  }
  ENC_CHECK(!sleef_stem(opcode).empty(),
            std::string(ir::info(opcode).name) + " is no math function");
  return VectorCall(emission, opcode, x->getType()->getScalarType()).call(operands);
}

}  // namespace enceladus::cpu
