// Sums of scalars as values, and the axes of blocks that are read by tiles of pointers
// (pointer_blocks.h).
#include <algorithm>

#include "lowering/tile_to_simt/lowering.h"

namespace enceladus::simt {

using analysis::MaskBound;
using analysis::Sum;
using analysis::Term;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

size_t Lowering::level_of(const Sum& sum) const {
  size_t level = 0;
  for (const Term& term : sum.terms())
    for (int i = 0; i < term.factor_count; ++i)
      level = std::max(level, level_of(term.factors[static_cast<size_t>(i)]));
  return level;
}

// Of the type, modulo its width.
Value* Lowering::sum_value(const Sum& sum, DType dtype) {
  Type type = Type::number(dtype);
  Value* total = nullptr;
  auto append = [&](Value* value) {
    total = total ? builder_.create(Opcode::kAdd, {total, value}) : value;
  };
  for (const Term& term : sum.terms()) {
    Value* product = nullptr;
    for (int i = 0; i < term.factor_count; ++i) {
      Value* factor = builder_.cast(scalar(term.factors[static_cast<size_t>(i)]), dtype);
      product = product ? builder_.create(Opcode::kMul, {product, factor}) : factor;
    }
    if (term.coefficient != 1)
      product = builder_.create(Opcode::kMul, {product, builder_.integer(type, term.coefficient)});
    append(product);
  }
  if (sum.constant() != 0 || !total) append(builder_.integer(type, sum.constant()));
  return total;
}

// The parts of a sum that are known at each level, the outermost first.
std::vector<std::pair<size_t, Sum>> Lowering::by_level(const Sum& sum) const {
  std::vector<std::pair<size_t, Sum>> parts;
  auto append = [&](size_t level, const Sum& part) {
    auto same = std::ranges::find(parts, level, [](const auto& known) { return known.first; });
    if (same == parts.end())
      parts.emplace_back(level, part);
    else
      same->second = *add(same->second, part);
  };
  for (const Term& term : sum.terms()) {
    Sum part(term.coefficient);
    for (int i = 0; i < term.factor_count; ++i)
      part = *multiply(part, Sum(term.factors[static_cast<size_t>(i)]));
    append(level_of(part), part);
  }
  if (sum.constant() != 0) append(0, Sum(sum.constant()));
  std::ranges::sort(parts, {}, [](const auto& part) { return part.first; });
  return parts;
}

// How many of `extent` coordinates from 0 on lie below the limit, as int32.
Value* Lowering::clamped(Value* limit, int64_t extent) {
  Type i64 = Type::number(DType::kInt64);
  limit = builder_.create(Opcode::kMin, {limit, builder_.integer(i64, extent)});
  limit = builder_.create(Opcode::kMax, {limit, builder_.integer(i64, 0)});
  return builder_.cast(limit, DType::kInt32);
}

// What the mask's bounds and conditions leave of one axis; conditions count with the first.
void Lowering::bound_axis(const PointerBlock& block, BlockAxis& axis) {
  Value* condition = nullptr;
  size_t level = 0;
  for (const MaskBound& bound : block.mask.bounds)
    if (bound.axis == axis.axis) level = std::max(level, level_of(bound.limit));
  if (axis.axis == 0)
    for (const Value* value : block.mask.conditions) level = std::max(level, level_of(value));
  Placement placement(*this, level);
  auto narrow = [&](Value*& bound, Value* by, Opcode opcode) {
    bound = bound ? builder_.create(opcode, {bound, by}) : by;
  };
  for (const MaskBound& bound : block.mask.bounds) {
    if (bound.axis != axis.axis) continue;
    Value* limit = clamped(sum_value(bound.limit, DType::kInt64), axis.extent);
    bool is_end = bound.side == MaskBound::Side::kBelow;
    narrow(is_end ? axis.left : axis.first, limit, is_end ? Opcode::kMin : Opcode::kMax);
  }
  if (axis.axis == 0)
    for (const Value* value : block.mask.conditions) narrow(condition, scalar(value), Opcode::kAnd);
  if (axis.axis == 0 && !block.mask.always) condition = builder_.boolean(false);
  if (!axis.left && !axis.first && !condition) return;
  Value* extent = builder_.integer(kInt32, axis.extent);
  if (!axis.left) axis.left = extent;
  if (condition)
    axis.left =
        builder_.create(Opcode::kSelect, {axis.left, builder_.integer(kInt32, 0), condition});
  axis.inside = builder_.create(Opcode::kEq, {axis.left, extent});
  if (!axis.first) return;
  Value* starts = builder_.create(Opcode::kEq, {axis.first, builder_.integer(kInt32, 0)});
  axis.inside = builder_.create(Opcode::kAnd, {axis.inside, starts});
}

Lowering::BlockAxis Lowering::pointer_axis(const Operation& access, int axis) {
  const PointerBlock& block = *pointer_blocks_.of(access);
  const Sum& stride = block.place.strides[static_cast<size_t>(axis)];
  BlockAxis result;
  result.axis = axis;
  result.extent = access.operand(0)->type().extent(axis);
  bool is_parameter = block.place.pointer->argument_of() == &tile_.body();
  result.index = tile_.options().arrays_small && is_parameter ? DType::kInt32 : DType::kInt64;
  result.stride_level = level_of(stride);
  if (!stride.is_constant() || stride.constant() != 1) {
    Placement placement(*this, result.stride_level);
    result.stride = sum_value(stride, result.index);
  }
  bound_axis(block, result);
  return result;
}

}  // namespace enceladus::simt
