#include "codegen/cpu/gemm_convert.h"

#include "codegen/cpu/float8.h"
#include "support/check.h"

namespace enceladus::cpu {
namespace {

llvm::Type* storage_type(llvm::LLVMContext& context, DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return llvm::Type::getHalfTy(context);
    case DType::kFloat32:
      return llvm::Type::getFloatTy(context);
    case DType::kFloat64:
      return llvm::Type::getDoubleTy(context);
    default:
      return llvm::Type::getIntNTy(context, 8 * byte_size(dtype));
  }
}

llvm::Type* like(llvm::Type* shape, llvm::Type* element) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(shape))
    return llvm::FixedVectorType::get(element, vector->getNumElements());
  return element;
}

llvm::Value* bfloat16_to_float32(llvm::IRBuilderBase& builder, llvm::Value* bits) {
  llvm::Type* wide = like(bits->getType(), builder.getInt32Ty());
  llvm::Value* shifted = builder.CreateShl(builder.CreateZExt(bits, wide), 16);
  return builder.CreateBitCast(shifted, like(wide, builder.getFloatTy()));
}

llvm::Value* convert(llvm::IRBuilderBase& builder, const Packing& packing, llvm::Value* value) {
  llvm::Type* type = like(value->getType(), packed_type(builder.getContext(), packing.packed));
  if (packing.flips_top_bit)
    return builder.CreateXor(value, llvm::ConstantInt::get(value->getType(), 0x80));
  if (byte_size(packing.source) == byte_size(packing.packed)) return value;
  if (is_integer(packing.source))
    return builder.CreateIntCast(value, type, is_signed(packing.source));
  if (is_float8(packing.source)) {
    value = widen_float8(builder, value, packing.source);
    if (packing.packed == DType::kFloat32) return value;
  }
  if (packing.source == DType::kBFloat16) value = bfloat16_to_float32(builder, value);
  return builder.CreateFPExt(value, type);
}

}  // namespace

llvm::Type* packed_type(llvm::LLVMContext& context, DType dtype) {
  return storage_type(context, dtype);
}

llvm::Value* emit_load_packed(llvm::IRBuilderBase& builder, const Packing& packing,
                              llvm::Value* pointer, int count) {
  llvm::Type* type = storage_type(builder.getContext(), packing.source);
  if (count > 1) type = llvm::FixedVectorType::get(type, count);
  llvm::Value* loaded =
      builder.CreateAlignedLoad(type, pointer, llvm::Align(byte_size(packing.source)));
  return convert(builder, packing, loaded);
}

}  // namespace enceladus::cpu
