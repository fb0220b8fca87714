#include "codegen/cpu/emission.h"

#include "codegen/cpu/casts.h"
#include "ir/builder.h"

namespace enceladus::cpu {

llvm::Type* register_type(llvm::LLVMContext& context, const ir::Type& element) {
  if (element.is_pointer()) return llvm::PointerType::get(context, 0);
  switch (element.dtype()) {
    case DType::kFloat64:
      return llvm::Type::getDoubleTy(context);
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16:
      return llvm::Type::getFloatTy(context);
    default:
      return llvm::Type::getIntNTy(context, static_cast<unsigned>(bit_width(element.dtype())));
  }
}

llvm::Type* memory_type(llvm::LLVMContext& context, const ir::Type& element) {
  if (element.is_pointer()) return llvm::PointerType::get(context, 0);
  switch (element.dtype()) {
    case DType::kFloat64:
      return llvm::Type::getDoubleTy(context);
    case DType::kFloat32:
      return llvm::Type::getFloatTy(context);
    default:
      return llvm::Type::getIntNTy(context, 8u * static_cast<unsigned>(byte_size(element.dtype())));
  }
}

int64_t element_bytes(const ir::Type& element) {
  return element.is_pointer() ? 8 : byte_size(element.dtype());
}

llvm::Type* with_lanes_of(llvm::Type* element, llvm::Type* like) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

llvm::Value* in_lanes_of(llvm::IRBuilder<>& builder, llvm::Value* scalar, llvm::Type* like) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
  return vector ? builder.CreateVectorSplat(vector->getNumElements(), scalar) : scalar;
}

llvm::Value* any_lane(llvm::IRBuilder<>& builder, llvm::Value* mask) {
  return mask->getType()->isVectorTy() ? builder.CreateOrReduce(mask) : mask;
}

llvm::Constant* integer_like(llvm::Value* like, int64_t value) {
  return llvm::ConstantInt::get(like->getType(), static_cast<uint64_t>(value), true);
}

llvm::Constant* float_like(llvm::Value* like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

llvm::Value* to_memory(Emission& emission, llvm::Value* value, DType dtype) {
  llvm::IRBuilder<>& builder = emission.builder;
  switch (dtype) {
    case DType::kInt1:
      return builder.CreateZExt(value, with_lanes_of(builder.getInt8Ty(), value->getType()));
    case DType::kFloat16:
    case DType::kBFloat16:
      return narrow_float_bits(emission, value, dtype);
    default:
      return value;
  }
}

llvm::Value* from_memory(Emission& emission, llvm::Value* value, DType dtype) {
  switch (dtype) {
    case DType::kInt1:
      return emission.builder.CreateIsNotNull(value);
    case DType::kFloat16:
    case DType::kBFloat16:
      return widen_float_bits(emission, value, dtype);
    default:
      return value;
  }
}

llvm::Constant* constant_of_bits(llvm::LLVMContext& context, DType dtype, uint64_t bits) {
  llvm::Type* type = register_type(context, ir::Type::number(dtype));
  if (!is_float(dtype) || is_float8(dtype)) return llvm::ConstantInt::get(type, bits);
  if (dtype == DType::kFloat32)
    return llvm::ConstantFP::get(
        context, llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, bits & 0xffffffffu)));
  if (dtype == DType::kFloat64)
    return llvm::ConstantFP::get(context,
                                 llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, bits)));
  return llvm::ConstantFP::get(type, ir::double_of_bits(dtype, bits));
}

}  // namespace enceladus::cpu
