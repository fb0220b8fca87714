#include "lowering/tile_to_simt/footprints.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "analysis/mask.h"
#include "ir/builder.h"

namespace enceladus::simt {
namespace {

using analysis::Affine;
using analysis::Sum;
using analysis::Term;
using ir::Operation;

bool is_small(int64_t number) { return std::abs(number) <= ir::kMaxElements; }

// One more than the distance between the first and the last element along the axes with constant
// strides, where all have addresses of their own: each axis steps over all that the shorter steps
// reach. At most one axis, `unknown`, may have another stride.
struct Span {
  int64_t reach = 1;
  int unknown = -1;
  int only = -1;  // the one axis that makes the reach, in steps of 1
};

std::optional<Span> span_of(const Affine& form, const ir::Type& tile) {
  struct Axis {
    int64_t stride, extent;
    int axis;
  };
  Span span;
  std::vector<Axis> axes;
  for (int axis = 0; axis < tile.rank(); ++axis) {
    if (tile.extent(axis) == 1) continue;
    const Sum& stride = form.strides[static_cast<size_t>(axis)];
    if (stride.is_constant() && is_small(stride.constant())) {
      axes.push_back({std::abs(stride.constant()), tile.extent(axis), axis});
      continue;
    }
    if (span.unknown >= 0) return std::nullopt;
    span.unknown = axis;
  }
  std::ranges::sort(axes, {}, &Axis::stride);
  for (const Axis& axis : axes) {
    if (axis.stride < span.reach) return std::nullopt;
    span.reach += axis.stride * (axis.extent - 1);
  }
  if (axes.size() == 1 && axes.front().stride == 1) span.only = axes.front().axis;
  return span;
}

const Operation* loop_around(const Operation& op) {
  const Operation* around = op.parent_operation();
  while (around && !around->is(ir::Opcode::kFor) && !around->is(ir::Opcode::kWhile))
    around = around->parent_operation();
  return around;
}

bool changes_in(const ir::Value* factor, const Operation& loop) {
  const ir::Region* region =
      factor->definition() ? factor->definition()->parent() : factor->argument_of();
  for (const Operation* around = region->parent(); around; around = around->parent_operation())
    if (around == &loop) return true;
  return false;
}

// How far the addresses move from one turn of the loop to the next; none where it is not the same
// for all turns.
std::optional<Sum> advance_of(const Affine& form, const Operation& loop) {
  if (!loop.is(ir::Opcode::kFor)) return std::nullopt;
  std::optional<int64_t> step = ir::constant_integer(loop.operand(2));
  if (!step || !is_small(*step)) return std::nullopt;
  std::optional<Sum> advance = Sum();
  for (const Term& term : form.base.terms()) {
    std::optional<Sum> product =
        is_small(term.coefficient) ? scaled(Sum(*step), term.coefficient) : std::nullopt;
    int turns = 0;
    for (int i = 0; i < term.factor_count && product; ++i) {
      ir::Value* factor = term.factors[static_cast<size_t>(i)];
      if (factor == loop.region(0)->argument(0)) {
        ++turns;
        continue;
      }
      if (changes_in(factor, loop)) return std::nullopt;
      product = multiply(*product, Sum(factor));
    }
    if (turns == 0) continue;
    if (turns > 1 || !product) return std::nullopt;
    advance = add(*advance, *product);
    if (!advance) return std::nullopt;
  }
  return advance;
}

// The integer by which `sum` is a multiple of the other.
std::optional<int64_t> quotient(const Sum& sum, const Sum& of) {
  if (of.terms().empty() || sum.terms().empty()) return std::nullopt;
  int64_t by = of.terms().front().coefficient, whole = sum.terms().front().coefficient;
  if (whole % by != 0) return std::nullopt;
  std::optional<Sum> multiple = scaled(of, whole / by);
  if (!multiple || *multiple != sum) return std::nullopt;
  return whole / by;
}

}  // namespace

// What a mask leaves of an axis, from its first element on; none where it bounds nothing there.
std::optional<Sum> Footprints::masked_extent(const Operation& access, int axis) {
  ir::Value* mask = access.operand(access.is(ir::Opcode::kLoad) ? 1 : 2);
  if (!mask || axis < 0) return std::nullopt;
  for (const analysis::MaskBound& bound : mask_form(mask, mask_forms_).bounds)
    if (bound.axis == axis && bound.side == analysis::MaskBound::Side::kBelow && bound.stride == 1)
      return bound.limit;
  return std::nullopt;
}

Footprint Footprints::of(const Operation& access) {
  return access.operand(0)->type().is_pointer() ? of_pointers(access) : of_block(access);
}

// Elements of a block lie in their rows between 0 and the row's size.
Footprint Footprints::of_block(const Operation& access) {
  const Operation* made = access.operand(0)->definition();
  const ir::Type& block = access.operand(0)->type();
  if (!made || !made->is(ir::Opcode::kMakeDescriptor) || block.rank() > 2) return {};
  Footprint result{kDistinct, std::nullopt};
  if (block.rank() == 1 || block.extent(0) == 1) return result;
  Sum size = forms_.scalar(made->operand(2)), stride = forms_.scalar(made->operand(3));
  if (size == stride || analysis::range_of(stride, facts_).low >= block.extent(1)) return result;
  result.provided = Apart{stride, block.extent(1), size};
  return result;
}

Footprint Footprints::of_pointers(const Operation& access) {
  ir::Value* pointers = access.operand(0);
  const Affine* form = forms_.of(pointers);
  if (!form || !form->pointer) return {};
  std::optional<Span> span = span_of(*form, pointers->type());
  if (!span) return {};
  Footprint result{kDistinct, std::nullopt};
  Sum stride;
  if (span->unknown >= 0) {
    stride = form->strides[static_cast<size_t>(span->unknown)];
    std::optional<Sum> limit = masked_extent(access, span->only);
    bool is_known = limit == stride || analysis::range_of(stride, facts_).low >= span->reach;
    if (!is_known) result.provided = Apart{stride, span->reach, limit};
  }
  const Operation* loop = loop_around(access);
  if (!loop || changes_in(form->pointer, *loop)) return result;
  for (const Term& term : stride.terms())
    for (int i = 0; i < term.factor_count; ++i)
      if (changes_in(term.factors[static_cast<size_t>(i)], *loop)) return result;
  std::optional<Sum> advance = advance_of(*form, *loop);
  if (!advance) return result;
  if (span->unknown < 0) {
    if (advance->is_constant() && std::abs(advance->constant()) >= span->reach)
      result.exclusive = kDistinctOverTurns;
    return result;
  }
  // Whole rows, from one turn to the next.
  std::optional<int64_t> rows = quotient(*advance, stride);
  if (rows && std::abs(*rows) >= pointers->type().extent(span->unknown))
    result.exclusive = kDistinctOverTurns;
  return result;
}

}  // namespace enceladus::simt
