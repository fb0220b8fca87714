// The part of LaneEvaluator that follows integers as sums of coordinates.

#include <algorithm>
#include <bit>

#include "codegen/cpu/lane_evaluator.h"
#include "codegen/cpu/scalar_emitter.h"
#include "ir/builder.h"

namespace enceladus::cpu {

using ir::Opcode;
using llvm::Value;

namespace {

llvm::ConstantInt* int64(llvm::IRBuilder<>& builder, int64_t value) {
  return builder.getInt64(static_cast<uint64_t>(value));
}

bool is_plain_constant(const Affine& affine) { return affine.is_constant() && affine.is_uniform(); }

}  // namespace

Affine LaneEvaluator::add(Affine a, const Affine& b, int sign) {
  llvm::IRBuilder<>& builder = kernel_.builder();
  if (b.base != nullptr) {
    const int level = a.base ? std::max(a.level, b.level) : b.level;
    a.base = at_level(level, [&]() -> Value* {
      if (a.base == nullptr) return sign > 0 ? b.base : builder.CreateNeg(b.base);
      return sign > 0 ? builder.CreateAdd(a.base, b.base) : builder.CreateSub(a.base, b.base);
    });
    a.level = level;
  }
  Affine rest = b;
  rest.scale(sign);
  a.step += rest.step;
  a.constant += rest.constant;
  a.add_pattern(rest);
  return a;
}

Affine LaneEvaluator::scaled(Affine affine, int64_t factor) {
  affine.scale(factor);
  if (factor == 0) affine.base = nullptr;
  if (affine.base != nullptr && factor != 1) {
    affine.base = at_level(affine.level, [&] {
      return kernel_.builder().CreateMul(affine.base, int64(kernel_.builder(), factor));
    });
  }
  if (affine.base == nullptr) affine.level = 0;
  return affine;
}

Affine LaneEvaluator::fold_step(Affine affine) {
  if (affine.step == 0) return affine;
  llvm::IRBuilder<>& builder = kernel_.builder();
  const bool is_multiple = affine.step % scale_ == 0;
  Value* turn = is_multiple
                    ? counter_
                    : builder.CreateAShr(counter_, std::countr_zero(static_cast<uint64_t>(scale_)));
  const int64_t factor = is_multiple ? affine.step / scale_ : affine.step;
  Value* steps = factor == 1 ? turn : builder.CreateMul(turn, int64(builder, factor));
  affine.base = affine.base ? builder.CreateAdd(affine.base, steps) : steps;
  affine.level = inner_level();
  affine.step = 0;
  return affine;
}

Lanes LaneEvaluator::uniform_part(const Affine& affine) {
  const Affine folded = fold_step(affine);
  llvm::IRBuilder<>& builder = kernel_.builder();
  if (folded.base == nullptr) return {int64(builder, folded.constant), true, 0};
  if (folded.constant == 0) return {folded.base, true, folded.level};
  Value* sum = at_level(folded.level, [&] {
    return builder.CreateAdd(folded.base, int64(builder, folded.constant));
  });
  return {sum, true, folded.level};
}

Lanes LaneEvaluator::lanes_of(const Affine& affine, llvm::Type* integer) {
  Lanes uniform = uniform_part(affine);
  llvm::IRBuilder<>& builder = kernel_.builder();
  uniform.value =
      at_level(uniform.level, [&] { return builder.CreateTrunc(uniform.value, integer); });
  if (affine.is_uniform()) return uniform;
  llvm::SmallVector<llvm::Constant*, 16> constants;
  for (const int64_t value : affine.pattern)
    constants.push_back(llvm::ConstantInt::get(integer, static_cast<uint64_t>(value), true));
  Value* vector = as_vector(uniform);
  vector = at_level(uniform.level, [&] {
    return builder.CreateAdd(vector, llvm::ConstantVector::get(constants));
  });
  return {vector, false, uniform.level};
}

std::optional<Affine> LaneEvaluator::affine_product(const Affine& a, const Affine& b) {
  if (is_plain_constant(a)) return scaled(b, a.constant);
  if (is_plain_constant(b)) return scaled(a, b.constant);
  if (!a.is_uniform() || !b.is_uniform()) return std::nullopt;
  const Lanes first = uniform_part(a), second = uniform_part(b);
  Affine product;
  product.level = std::max(first.level, second.level);
  product.base = at_level(product.level,
                          [&] { return kernel_.builder().CreateMul(first.value, second.value); });
  return product;
}

std::optional<Affine> LaneEvaluator::affine_cast(const ir::Operation* op, int view,
                                                 Precision precision) {
  const ir::Type& from = op->operand(0)->type();
  const ir::Type& to = op->result()->type();
  const bool widens = from.is_integer() && !from.is_bool() && !to.is_bool() &&
                      bit_width(from.dtype()) <= bit_width(to.dtype());
  if (!widens) return affine_leaf(op->result(), view);
  std::optional<Affine> inner = affine(op->operand(0), view, precision);
  if (!inner) return std::nullopt;
  // As typed arithmetic, a sum may have wrapped before it was widened.
  if (precision == Precision::kTyped && inner->base != nullptr)
    return affine_leaf(op->result(), view);
  return inner;
}

std::optional<Affine> LaneEvaluator::affine_leaf(const ir::Value* value, int view) {
  const Lanes lanes = evaluate(value, view);
  if (!lanes.is_uniform) return std::nullopt;
  Affine leaf;
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(lanes.value)) {
    leaf.constant = is_signed(value->type().dtype())
                        ? constant->getSExtValue()
                        : static_cast<int64_t>(constant->getZExtValue());
    return leaf;
  }
  leaf.level = lanes.level;
  leaf.base = at_level(lanes.level, [&] {
    return widen_to_int64(kernel_.emission, lanes.value, value->type().dtype());
  });
  return leaf;
}

std::optional<Affine> LaneEvaluator::affine(const ir::Value* value, int view, Precision precision) {
  if (value->type().is_scalar()) {
    if (precision == Precision::kTyped) return affine_leaf(value, view);
    Value* exact = at_level(0, [&] { return exact_integer(kernel_, value); });
    Affine scalar;
    if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(exact)) {
      scalar.constant = constant->getSExtValue();
    } else {
      scalar.base = exact;
    }
    return scalar;
  }
  const ir::Operation* op = value->definition();
  if (op == nullptr || is_stored(value)) return affine_leaf(value, view);
  switch (op->opcode()) {
    case Opcode::kArange: {
      Affine numbers = index_of(view)[0];
      numbers.constant += op->integer(ir::AttributeName::kStart);
      return numbers;
    }
    case Opcode::kSplat:
    case Opcode::kHint:
      return affine(op->operand(0), view, precision);
    case Opcode::kBroadcast:
    case Opcode::kExpandDims:
    case Opcode::kReshape:
    case Opcode::kTranspose:
      return affine(op->operand(0), operand_view(op, view), precision);
    case Opcode::kCast:
      return affine_cast(op, view, precision);
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul: {
      const std::optional<Affine> a = affine(op->operand(0), view, precision);
      const std::optional<Affine> b = affine(op->operand(1), view, precision);
      if (!a || !b) return std::nullopt;
      if (op->is(Opcode::kMul)) return affine_product(*a, *b);
      return add(*a, *b, op->is(Opcode::kAdd) ? 1 : -1);
    }
    default:
      return affine_leaf(value, view);
  }
}

Lanes LaneEvaluator::exact_offset(const ir::Value* offset, int view) {
  llvm::IRBuilder<>& builder = kernel_.builder();
  if (const std::optional<Affine> sum = affine(offset, view, Precision::kUnlimited))
    return lanes_of(*sum, builder.getInt64Ty());
  const ir::Operation* op = offset->definition();
  const Opcode opcode = op != nullptr && !is_stored(offset) ? op->opcode() : Opcode::kConstant;
  if (opcode == Opcode::kHint) return exact_offset(op->operand(0), view);
  if (opcode == Opcode::kBroadcast || opcode == Opcode::kExpandDims || opcode == Opcode::kReshape ||
      opcode == Opcode::kTranspose)
    return exact_offset(op->operand(0), operand_view(op, view));
  if (opcode != Opcode::kAdd && opcode != Opcode::kSub && opcode != Opcode::kMul) {
    Lanes lanes = evaluate(offset, view);
    lanes.value = at_level(lanes.level, [&] {
      return widen_to_int64(kernel_.emission, lanes.value, offset->type().dtype());
    });
    return lanes;
  }
  const Lanes a = exact_offset(op->operand(0), view), b = exact_offset(op->operand(1), view);
  const bool is_uniform = a.is_uniform && b.is_uniform;
  const int level = std::max(a.level, b.level);
  Value* first = is_uniform ? a.value : as_vector(a);
  Value* second = is_uniform ? b.value : as_vector(b);
  Value* result = at_level(level, [&]() -> Value* {
    if (opcode == Opcode::kMul) return builder.CreateMul(first, second);
    return opcode == Opcode::kAdd ? builder.CreateAdd(first, second)
                                  : builder.CreateSub(first, second);
  });
  return {result, is_uniform, level};
}

}  // namespace enceladus::cpu
