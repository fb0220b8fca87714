#include "codegen/cpu/lane_loop.h"

#include "codegen/cpu/ir_loops.h"

namespace enceladus::cpu {

using llvm::Value;

namespace {

// A vector in the frame, its elements addressable (i1 as bytes).
class LaneArray {
 public:
  LaneArray(KernelState& kernel, llvm::Type* element, unsigned lanes)
      : kernel_(kernel), element_(element) {
    stored_ = element->isIntegerTy(1) ? kernel.builder().getInt8Ty() : element;
    vector_ = llvm::FixedVectorType::get(stored_, lanes);
    memory_ = kernel.allocate(llvm::ArrayType::get(stored_, lanes));
    memory_->setAlignment(llvm::Align(64));
  }

  void set_all(Value* vector) {
    kernel_.builder().CreateStore(
        stored_ == element_ ? vector : kernel_.builder().CreateZExt(vector, vector_), memory_);
  }
  Value* all() { return narrowed(kernel_.builder().CreateLoad(vector_, memory_)); }
  void set(Value* lane, Value* value) {
    llvm::IRBuilder<>& builder = kernel_.builder();
    builder.CreateStore(stored_ == element_ ? value : builder.CreateZExt(value, stored_),
                        builder.CreateGEP(stored_, memory_, lane));
  }
  Value* get(Value* lane) {
    llvm::IRBuilder<>& builder = kernel_.builder();
    return narrowed(builder.CreateLoad(stored_, builder.CreateGEP(stored_, memory_, lane)));
  }

 private:
  Value* narrowed(Value* value) {
    return stored_ == element_ ? value : kernel_.builder().CreateIsNotNull(value);
  }

  KernelState& kernel_;
  llvm::Type* element_;
  llvm::Type* stored_;
  llvm::FixedVectorType* vector_;
  llvm::AllocaInst* memory_;
};

}  // namespace

Value* emit_lane_loop(KernelState& kernel, llvm::ArrayRef<Value*> vectors, llvm::Type* result_type,
                      llvm::function_ref<Value*(llvm::ArrayRef<Value*>)> body) {
  auto* first = llvm::dyn_cast<llvm::FixedVectorType>(vectors[0]->getType());
  if (first == nullptr) return body(vectors);
  llvm::IRBuilder<>& builder = kernel.builder();
  const unsigned lanes = first->getNumElements();
  std::vector<std::unique_ptr<LaneArray>> arrays;
  for (Value* vector : vectors) {
    arrays.push_back(vector == nullptr ? nullptr
                                       : std::make_unique<LaneArray>(
                                             kernel, vector->getType()->getScalarType(), lanes));
    if (vector != nullptr) arrays.back()->set_all(vector);
  }
  std::unique_ptr<LaneArray> results;
  if (!result_type->isVoidTy()) results = std::make_unique<LaneArray>(kernel, result_type, lanes);
  emit_loop(builder, {builder.getInt64(0), builder.getInt64(lanes)}, [&](Value* lane) {
    llvm::SmallVector<Value*, 4> elements;
    for (const auto& array : arrays) elements.push_back(array ? array->get(lane) : nullptr);
    Value* result = body(elements);
    if (results != nullptr) results->set(lane, result);
  });
  return results != nullptr ? results->all() : nullptr;
}

}  // namespace enceladus::cpu
