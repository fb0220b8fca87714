#include "codegen/cpu/scan_emitter.h"

namespace enceladus::cpu {

using llvm::Value;

ScanEmitter::ScanEmitter(LaneEvaluator& evaluator, const LoopNest& nest, const ir::Operation* op)
    : evaluator_(evaluator),
      kernel_(evaluator.kernel()),
      nest_(nest),
      op_(op),
      axis_(static_cast<int>(op->integer(ir::AttributeName::kAxis))),
      is_reverse_(op->integer_or(ir::AttributeName::kReverse, 0) != 0),
      combination_(kernel_, op) {}

void ScanEmitter::begin() {
  llvm::IRBuilder<>& builder = kernel_.builder();
  for (size_t part = 0; part < combination_.part_count(); ++part) {
    llvm::Type* type = register_type(kernel_.context(), ir::Type::number(combination_.dtype(part)));
    if (nest_.lanes > 1)
      type = llvm::FixedVectorType::get(type, static_cast<unsigned>(nest_.lanes));
    carry_.push_back(kernel_.allocate(type));
    builder.CreateStore(llvm::Constant::getNullValue(type), carry_.back());
  }
  has_started_ = kernel_.allocate(builder.getInt1Ty());
  builder.CreateStore(builder.getFalse(), has_started_);
}

int ScanEmitter::earlier_lane(int lane, int64_t distance) const {
  const int64_t stride = nest_.lane_stride(axis_), extent = nest_.axis_lanes[axis_];
  const int64_t digit = lane / stride % extent;
  const int64_t earlier = is_reverse_ ? digit + distance : digit - distance;
  if (earlier < 0 || earlier >= extent) return -1;
  return lane + static_cast<int>((earlier - digit) * stride);
}

Parts ScanEmitter::shuffled(const Parts& parts, llvm::ArrayRef<int> mask) {
  Parts result;
  for (Value* part : parts) result.push_back(kernel_.builder().CreateShuffleVector(part, mask));
  return result;
}

Parts ScanEmitter::chosen(Value* condition, const Parts& yes, const Parts& no) {
  Parts result;
  for (size_t part = 0; part < yes.size(); ++part)
    result.push_back(kernel_.builder().CreateSelect(condition, yes[part], no[part]));
  return result;
}

Parts ScanEmitter::within_vector(Parts parts) {
  llvm::IRBuilder<>& builder = kernel_.builder();
  for (int64_t distance = 1; distance < nest_.axis_lanes[axis_]; distance *= 2) {
    llvm::SmallVector<int, 16> mask;
    llvm::SmallVector<llvm::Constant*, 16> has_earlier;
    for (int lane = 0; lane < nest_.lanes; ++lane) {
      const int earlier = earlier_lane(lane, distance);
      mask.push_back(earlier < 0 ? lane : earlier);
      has_earlier.push_back(builder.getInt1(earlier >= 0));
    }
    const Parts combined = combination_.combine(shuffled(parts, mask), parts);
    parts = chosen(llvm::ConstantVector::get(has_earlier), combined, parts);
  }
  return parts;
}

Parts ScanEmitter::scan(int view) {
  llvm::IRBuilder<>& builder = kernel_.builder();
  Parts parts;
  for (const ir::Value* operand : op_->operands())
    parts.push_back(evaluator_.as_vector(evaluator_.evaluate(operand, view)));
  parts = within_vector(parts);
  Parts carry;
  for (llvm::AllocaInst* part : carry_)
    carry.push_back(builder.CreateLoad(part->getAllocatedType(), part));
  Value* started = builder.CreateLoad(builder.getInt1Ty(), has_started_);
  parts = chosen(started, combination_.combine(carry, parts), parts);
  builder.CreateStore(builder.getTrue(), has_started_);

  // The carry is the last element along the axis, in all lanes of the axis.
  Parts last = parts;
  const int64_t stride = nest_.lane_stride(axis_), extent = nest_.axis_lanes[axis_];
  if (extent > 1) {
    llvm::SmallVector<int, 16> mask;
    for (int64_t lane = 0; lane < nest_.lanes; ++lane) {
      const int64_t digit = lane / stride % extent;
      mask.push_back(static_cast<int>(lane + ((is_reverse_ ? 0 : extent - 1) - digit) * stride));
    }
    last = shuffled(parts, mask);
  }
  for (size_t part = 0; part < last.size(); ++part) builder.CreateStore(last[part], carry_[part]);
  for (size_t part = 0; part < parts.size(); ++part)
    parts[part] = combination_.finish(parts[part], part);
  return parts;
}

}  // namespace enceladus::cpu
