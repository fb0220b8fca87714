#include "codegen/cpu/lane_evaluator.h"

#include <algorithm>
#include <limits>

#include "codegen/cpu/casts.h"
#include "codegen/cpu/elementwise.h"
#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::cpu {

using ir::Opcode;
using llvm::Value;

LaneEvaluator::LaneEvaluator(KernelState& kernel, int lanes) : kernel_(kernel), lanes_(lanes) {}

void LaneEvaluator::open_level() {
  llvm::IRBuilder<>& builder = kernel_.builder();
  llvm::BasicBlock* inside = kernel_.new_block("level");
  marks_.push_back(builder.CreateBr(inside));
  builder.SetInsertPoint(inside);
}

void LaneEvaluator::begin_body(Value* counter, int64_t turns, int64_t scale) {
  counter_ = counter;
  turns_ = turns;
  scale_ = scale;
  llvm::SmallVector<Key, 32> stale;
  for (const auto& [key, lanes] : memo_)
    if (lanes.level >= inner_level()) stale.push_back(key);
  for (const Key& key : stale) memo_.erase(key);
}

int LaneEvaluator::intern(const Index& index) {
  const auto found = std::find(views_.begin(), views_.end(), index);
  if (found != views_.end()) return static_cast<int>(found - views_.begin());
  views_.push_back(index);
  return static_cast<int>(views_.size()) - 1;
}

int LaneEvaluator::operand_view(const ir::Operation* op, int view) {
  const Index result = index_of(view);
  const auto shape = op->operand(0)->type().shape();
  Index index;
  switch (op->opcode()) {
    case Opcode::kBroadcast:
      for (size_t axis = 0; axis < shape.size(); ++axis)
        index.push_back(shape[axis] == 1 ? Affine() : result[axis]);
      break;
    case Opcode::kExpandDims:
      index = result;
      index.erase(index.begin() + op->integer(ir::AttributeName::kAxis));
      break;
    case Opcode::kTranspose: {
      index.resize(shape.size());
      const auto permutation = op->integers(ir::AttributeName::kPermutation);
      for (size_t axis = 0; axis < shape.size(); ++axis)
        index[static_cast<size_t>(permutation[axis])] = result[axis];
      break;
    }
    default: {
      ENC_CHECK(op->is(Opcode::kReshape), "not a shape operation");
      int64_t divisor = op->operand(0)->type().elements();
      for (const int64_t extent : shape) {
        divisor /= extent;
        index.push_back(reshaped(result, op->result()->type().shape(), divisor, extent));
      }
    }
  }
  return intern(index);
}

// (the row-major number of the element at `from`) / divisor % extent. Extents are powers of two
// and the parts of a coordinate share no bits, so the parts are cut one by one.
Affine LaneEvaluator::reshaped(const Index& from, std::span<const int64_t> shape, int64_t divisor,
                               int64_t extent) {
  Affine sum;
  if (extent == 1) return sum;
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis])
    add_slice(sum, from[axis], stride, divisor, extent);
  return sum;
}

void LaneEvaluator::add_slice(Affine& sum, const Affine& part, int64_t stride, int64_t divisor,
                              int64_t extent) {
  const auto cut = [&](int64_t value) { return value * stride / divisor % extent; };
  Affine slice;
  for (const int64_t value : part.pattern) slice.pattern.push_back(cut(value));
  Affine rest = part;
  const int64_t lowest = part.step * stride, beyond = lowest * turns_;
  const bool is_reverse = part.step < 0;  // then the constant shares bits with the steps
  if (is_reverse) {
    rest = fold_step(part);
  } else if (lowest >= divisor && beyond <= divisor * extent) {
    slice.step = lowest / divisor;
  } else if (lowest < divisor * extent && beyond > divisor) {
    rest = fold_step(part);
  }
  if (!is_reverse) slice.constant = cut(part.constant);
  if (rest.base != nullptr) {
    llvm::IRBuilder<>& builder = kernel_.builder();
    slice.level = rest.level;
    slice.base = at_level(rest.level, [&]() -> Value* {
      Value* base = rest.base;
      if (is_reverse && rest.constant != 0)
        base = builder.CreateAdd(base, builder.getInt64(static_cast<uint64_t>(rest.constant)));
      base = builder.CreateMul(base, builder.getInt64(static_cast<uint64_t>(stride)));
      base = builder.CreateUDiv(base, builder.getInt64(static_cast<uint64_t>(divisor)));
      return builder.CreateAnd(base, builder.getInt64(static_cast<uint64_t>(extent - 1)));
    });
  }
  Affine zero;
  zero.add_pattern(slice);
  slice.pattern = zero.pattern;
  sum = add(sum, slice);
}

llvm::SmallVector<Value*, 8> LaneEvaluator::position_of(int view) {
  llvm::SmallVector<Value*, 8> position;
  for (const Affine& coordinate : index_of(view))
    position.push_back(as_vector(lanes_of(coordinate, kernel_.builder().getInt32Ty())));
  return position;
}

// --- values
// -----------------------------------------------------------------------------------------

Value* LaneEvaluator::as_vector(const Lanes& lanes) {
  if (!lanes.is_uniform || lanes_ == 1) return lanes.value;
  return at_level(lanes.level, [&] {
    return kernel_.builder().CreateVectorSplat(static_cast<unsigned>(lanes_), lanes.value);
  });
}

Lanes LaneEvaluator::evaluate(const ir::Value* value, int view) {
  if (value->type().is_scalar()) return {kernel_.scalar(value), true, 0};
  // What an assumption allows must not leave the body that it holds in.
  if (assumed_.contains(key(value, view)))
    return {kernel_.builder().getTrue(), true, inner_level()};
  if (const auto found = memo_.find(key(value, view)); found != memo_.end()) return found->second;
  const Lanes lanes = is_stored(value) ? load(buffer_address(kernel_.plan.buffer(value), view),
                                              value->type().element(), {})
                                       : compute(value, view);
  memo_[key(value, view)] = lanes;
  return lanes;
}

Lanes LaneEvaluator::compute(const ir::Value* value, int view) {
  const ir::Operation* op = value->definition();
  ENC_CHECK(op != nullptr, "a loop's tile has no place in scratch");
  switch (op->opcode()) {
    case Opcode::kConstant:
      return {constant_of_bits(kernel_.context(), value->type().dtype(),
                               static_cast<uint64_t>(op->integer(ir::AttributeName::kBits))),
              true, 0};
    case Opcode::kArange: {
      Affine numbers = index_of(view)[0];
      numbers.constant += op->integer(ir::AttributeName::kStart);
      return lanes_of(numbers, kernel_.builder().getInt32Ty());
    }
    case Opcode::kSplat:
    case Opcode::kHint:
      return evaluate(op->operand(0), view);
    case Opcode::kBroadcast:
    case Opcode::kExpandDims:
    case Opcode::kReshape:
    case Opcode::kTranspose:
      return evaluate(op->operand(0), operand_view(op, view));
    case Opcode::kAddPtr: {
      const Address found = address(value, view);
      if (found.base == nullptr) return found.pointers;
      const ir::Type pointee = ir::Type::number(value->type().dtype());
      return {pointers_of(found, pointee), lanes_ == 1, inner_level()};
    }
    case Opcode::kLoad:
      return compute_load(op, view);
    case Opcode::kDescriptorLoad:
      return compute_descriptor_load(op, view);
    default:
      ENC_CHECK(op->record().op_class == ir::OpClass::kElementwise,
                std::string(op->record().name) + " is not computed lane by lane");
      return compute_elementwise(op, view);
  }
}

Lanes LaneEvaluator::compute_elementwise(const ir::Operation* op, int view) {
  llvm::SmallVector<Lanes, 3> operands;
  Lanes result{.is_uniform = true, .level = 0};
  for (const ir::Value* operand : op->operands()) {
    operands.push_back(evaluate(operand, view));
    result.is_uniform = result.is_uniform && operands.back().is_uniform;
    result.level = std::max(result.level, operands.back().level);
  }
  llvm::SmallVector<Value*, 3> values;
  for (const Lanes& operand : operands)
    values.push_back(result.is_uniform ? operand.value : as_vector(operand));
  result.value =
      at_level(result.level, [&] { return emit_elementwise(kernel_.emission, op, values); });
  return result;
}

Lanes LaneEvaluator::compute_load(const ir::Operation* op, int view) {
  const ir::Type element = op->result()->type().element();
  Lanes mask;
  if (op->operand(1) != nullptr) mask = both(evaluate(op->operand(1), view), {});
  const Address place = address(op->operand(0), view);
  mask = check_bounds(op, place, mask, view);
  const Lanes loaded = load(place, element, mask);
  if (mask.value == nullptr || op->operand(2) == nullptr) return loaded;
  const Lanes other = evaluate(op->operand(2), view);
  auto* constant = llvm::dyn_cast<llvm::Constant>(other.value);
  if (constant != nullptr && constant->isNullValue()) return loaded;
  const int level = std::max({loaded.level, other.level, mask.level});
  const bool is_uniform = loaded.is_uniform && other.is_uniform && mask.is_uniform;
  Value* operands[] = {mask.value, loaded.value, other.value};
  if (!is_uniform) operands[0] = as_vector(mask), operands[1] = as_vector(loaded);
  if (!is_uniform) operands[2] = as_vector(other);
  Value* chosen = at_level(
      level, [&] { return kernel_.builder().CreateSelect(operands[0], operands[1], operands[2]); });
  return {chosen, is_uniform, level};
}

Lanes LaneEvaluator::compute_descriptor_load(const ir::Operation* op, int view) {
  const ir::Type element = op->result()->type().element();
  const Address place = descriptor_address(op, view);
  const Lanes mask = check_bounds(op, place, descriptor_mask(op, view), view);
  const Lanes loaded = load(place, element, mask);
  const ir::Operation* made = op->operand(0)->definition();
  const bool pads_with_nan =
      made->integer_or(ir::AttributeName::kPadding, 0) == static_cast<int64_t>(ir::Padding::kNan);
  if (mask.value == nullptr || !pads_with_nan || !is_float(element.dtype())) return loaded;
  Value* vector = as_vector(loaded);
  Value* inside = as_vector(mask);
  const int level = std::max(loaded.level, mask.level);
  Value* chosen = at_level(level, [&] {
    const uint64_t bits = ir::bits_of(element.dtype(), std::numeric_limits<double>::quiet_NaN());
    Value* nan = constant_of_bits(vector->getContext(), element.dtype(), bits);
    if (vector->getType()->isVectorTy())
      nan = kernel_.builder().CreateVectorSplat(static_cast<unsigned>(lanes_), nan);
    return kernel_.builder().CreateSelect(inside, vector, nan);
  });
  return {chosen, lanes_ == 1, level};
}

Lanes LaneEvaluator::both(Lanes a, Lanes b) {
  auto is_true = [](const Lanes& mask) {
    if (mask.value == nullptr) return true;
    auto* constant = llvm::dyn_cast<llvm::Constant>(mask.value);
    return constant != nullptr && constant->isAllOnesValue();
  };
  const int level = std::max(a.level, b.level);
  if (is_true(a)) std::swap(a, b);
  if (is_true(a)) return {nullptr, false, level};
  if (is_true(b)) return {a.value, a.is_uniform, level};
  const bool is_uniform = a.is_uniform && b.is_uniform;
  Value* first = is_uniform ? a.value : as_vector(a);
  Value* second = is_uniform ? b.value : as_vector(b);
  Value* result = at_level(level, [&] { return kernel_.builder().CreateAnd(first, second); });
  return {result, is_uniform, level};
}

}  // namespace enceladus::cpu
