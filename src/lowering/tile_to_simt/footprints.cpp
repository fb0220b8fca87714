#include "lowering/tile_to_simt/footprints.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "ir/builder.h"

namespace enceladus::simt {
namespace {

using analysis::Affine;
using analysis::Sum;
using analysis::Term;
using ir::Operation;

// One more than the distance between the first and the last element, where all have addresses of
// their own: each axis steps over all that the shorter steps reach.
std::optional<int64_t> span_of(const Affine& form, const ir::Type& tile) {
  struct Axis {
    int64_t stride, extent;
  };
  std::vector<Axis> axes;
  for (int axis = 0; axis < tile.rank(); ++axis) {
    if (tile.extent(axis) == 1) continue;
    const Sum& stride = form.strides[static_cast<size_t>(axis)];
    if (!stride.is_constant() || std::abs(stride.constant()) > ir::kMaxElements)
      return std::nullopt;
    axes.push_back({std::abs(stride.constant()), tile.extent(axis)});
  }
  std::ranges::sort(axes, {}, &Axis::stride);
  int64_t span = 1;
  for (const Axis& axis : axes) {
    if (axis.stride < span) return std::nullopt;
    span += axis.stride * (axis.extent - 1);
  }
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
std::optional<int64_t> advance_of(const Affine& form, const Operation& loop) {
  if (!loop.is(ir::Opcode::kFor)) return std::nullopt;
  std::optional<int64_t> step = ir::constant_integer(loop.operand(2));
  if (!step || std::abs(*step) > ir::kMaxElements) return std::nullopt;
  int64_t advance = 0;
  for (const Term& term : form.base.terms())
    for (int i = 0; i < term.factor_count; ++i) {
      const ir::Value* factor = term.factors[static_cast<size_t>(i)];
      if (!changes_in(factor, loop)) continue;
      bool is_index = factor == loop.region(0)->argument(0) && term.factor_count == 1;
      if (!is_index || std::abs(term.coefficient) > ir::kMaxElements) return std::nullopt;
      advance += term.coefficient * *step;
    }
  return std::abs(advance);
}

}  // namespace

Exclusive Footprints::of(const Operation& access) {
  ir::Value* pointers = access.operand(0);
  const Affine* form = forms_.of(pointers);
  if (!form || !form->pointer) return kNotExclusive;
  std::optional<int64_t> span = span_of(*form, pointers->type());
  if (!span) return kNotExclusive;
  const Operation* loop = loop_around(access);
  if (!loop || changes_in(form->pointer, *loop)) return kDistinct;
  std::optional<int64_t> advance = advance_of(*form, *loop);
  return advance && *advance >= *span ? kDistinctOverTurns : kDistinct;
}

}  // namespace enceladus::simt
