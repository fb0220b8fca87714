#include "codegen/cpu/reduction_emitter.h"

namespace enceladus::cpu {

using llvm::Value;

ReductionEmitter::ReductionEmitter(LaneEvaluator& evaluator, const LoopNest& nest,
                                   const ir::Operation* op)
    : evaluator_(evaluator),
      kernel_(evaluator.kernel()),
      nest_(nest),
      op_(op),
      axis_(static_cast<int>(op->integer(ir::AttributeName::kAxis))),
      combination_(kernel_, op) {}

void ReductionEmitter::begin() {
  llvm::IRBuilder<>& builder = kernel_.builder();
  accumulators_.assign(static_cast<size_t>(nest_.unroll), {});
  for (auto& accumulator : accumulators_) {
    for (size_t part = 0; part < combination_.part_count(); ++part) {
      llvm::Type* type =
          register_type(kernel_.context(), ir::Type::number(combination_.dtype(part)));
      if (nest_.lanes > 1)
        type = llvm::FixedVectorType::get(type, static_cast<unsigned>(nest_.lanes));
      accumulator.push_back(kernel_.allocate(type));
      llvm::Constant* start = llvm::Constant::getNullValue(type);
      if (llvm::Constant* identity = combination_.identity(part))
        start = nest_.lanes > 1 ? llvm::ConstantVector::getSplat(
                                      llvm::ElementCount::getFixed(nest_.lanes), identity)
                                : identity;
      builder.CreateStore(start, accumulator.back());
    }
  }
  if (combination_.is_custom()) {
    has_started_ = kernel_.allocate(builder.getInt1Ty());
    builder.CreateStore(builder.getFalse(), has_started_);
  }
}

Parts ReductionEmitter::load(int accumulator) {
  Parts parts;
  for (llvm::AllocaInst* part : accumulators_[static_cast<size_t>(accumulator)])
    parts.push_back(kernel_.builder().CreateLoad(part->getAllocatedType(), part));
  return parts;
}

void ReductionEmitter::save(const Parts& parts, int accumulator) {
  for (size_t part = 0; part < parts.size(); ++part)
    kernel_.builder().CreateStore(parts[part],
                                  accumulators_[static_cast<size_t>(accumulator)][part]);
}

void ReductionEmitter::accumulate(int view, int accumulator) {
  llvm::IRBuilder<>& builder = kernel_.builder();
  Parts added;
  for (const ir::Value* operand : op_->operands())
    added.push_back(evaluator_.as_vector(evaluator_.evaluate(operand, view)));
  if (combination_.tracks_index()) {
    const Affine& coordinate = evaluator_.index_of(view)[static_cast<size_t>(axis_)];
    added.push_back(evaluator_.as_vector(evaluator_.lanes_of(coordinate, builder.getInt32Ty())));
  }
  const Parts before = load(accumulator);
  Parts after = combination_.combine(before, added);
  if (has_started_ != nullptr) {
    Value* started = builder.CreateLoad(builder.getInt1Ty(), has_started_);
    for (size_t part = 0; part < after.size(); ++part)
      after[part] = builder.CreateSelect(started, after[part], added[part]);
    builder.CreateStore(builder.getTrue(), has_started_);
  }
  save(after, accumulator);
}

// The lanes of the reduced axis against one another, halving the distance; the result stands in
// the lanes whose coordinate along the axis is 0.
Parts ReductionEmitter::across_lanes(Parts parts) {
  const int64_t stride = nest_.lane_stride(axis_);
  for (int64_t distance = nest_.axis_lanes[axis_] / 2; distance > 0; distance /= 2) {
    llvm::SmallVector<int, 16> mask;
    for (int lane = 0; lane < nest_.lanes; ++lane)
      mask.push_back(lane ^ static_cast<int>(distance * stride));
    Parts other;
    for (Value* part : parts) other.push_back(kernel_.builder().CreateShuffleVector(part, mask));
    parts = combination_.combine(parts, other);
  }
  return parts;
}

void ReductionEmitter::finish(int view) {
  Parts parts = load(0);
  for (int accumulator = 1; accumulator < nest_.unroll; ++accumulator)
    parts = combination_.combine(parts, load(accumulator));
  parts = across_lanes(parts);
  for (size_t part = 0; part < parts.size(); ++part)
    if (op_->result(static_cast<int>(part))->has_users())
      give(combination_.finish(parts[part], part), part, view);
}

void ReductionEmitter::give(Value* value, size_t part, int view) {
  llvm::IRBuilder<>& builder = kernel_.builder();
  const int64_t stride = nest_.lane_stride(axis_);
  const int64_t axis_lanes = nest_.axis_lanes[axis_];
  llvm::SmallVector<int, 16> kept;
  for (int lane = 0; lane < nest_.lanes; ++lane)
    if (lane / stride % axis_lanes == 0) kept.push_back(lane);
  if (nest_.lanes > 1)
    value = kept.size() == 1 ? builder.CreateExtractElement(value, uint64_t{0})
                             : builder.CreateShuffleVector(value, kept);
  const ir::Value* result = op_->result(static_cast<int>(part));
  if (result->type().is_scalar()) {
    kernel_.scalars[result->id()] = value;
    return;
  }
  Index index = evaluator_.index_of(view);
  index.erase(index.begin() + axis_);
  // The kept lanes are neighbours in the result: the vector's lanes are in row-major order.
  const Address address =
      evaluator_.buffer_address(kernel_.plan.buffer(result), evaluator_.intern(index));
  const ir::Type element = result->type().element();
  builder.CreateAlignedStore(to_memory(kernel_.emission, value, element.dtype()),
                             evaluator_.element_pointer(address, element),
                             llvm::Align(static_cast<uint64_t>(element_bytes(element))));
}

}  // namespace enceladus::cpu
