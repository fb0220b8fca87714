#include "codegen/cpu/dot_loop_places.h"

#include <algorithm>

#include "analysis/effects.h"
#include "codegen/cpu/dot_emitter.h"
#include "codegen/cpu/dot_loop_emitter.h"

namespace enceladus::cpu {
namespace {

using analysis::Sum;

// Whether nothing in the launch writes what the load reads.
bool is_never_written(const ir::Operation* load, const ir::Function& function,
                      const analysis::MemoryEffects& effects) {
  bool result = true;
  ir::walk(function.body(), [&](const ir::Operation* op) {
    if (analysis::writes_memory(*op) && effects.may_alias(*op, *load)) result = false;
  });
  return result;
}

// The grid axes that a value depends on, a bit each. Loaded values count as depending on none: they
// are part of no address here.
class AxisFinder {
 public:
  unsigned of(const ir::Value* value) {
    const ir::Operation* op = value->definition();
    if (op == nullptr || std::find(seen_.begin(), seen_.end(), value) != seen_.end()) return 0;
    seen_.push_back(value);
    if (op->is(ir::Opcode::kProgramId)) return 1u << op->integer(ir::AttributeName::kAxis);
    unsigned axes = 0;
    for (const ir::Value* operand : op->operands())
      if (operand != nullptr) axes |= of(operand);
    return axes;
  }
  unsigned of(const Sum& sum) {
    unsigned axes = 0;
    for (const analysis::Term& term : sum.terms())
      for (int i = 0; i < term.factor_count; ++i) axes |= of(term.factors[static_cast<size_t>(i)]);
    return axes;
  }

 private:
  std::vector<const ir::Value*> seen_;
};

unsigned axes_of(const loop::DotOperand& operand) {
  AxisFinder finder;
  unsigned axes = finder.of(operand.pointer) | finder.of(operand.base);
  for (const loop::IndexBounds* bounds : {&operand.across, &operand.depth})
    for (const auto* list : {&bounds->from, &bounds->below})
      for (const Sum& bound : *list) axes |= finder.of(bound);
  return axes;
}

}  // namespace

DotLoopPlaces place_dot_loops(const HostTarget& host, const ir::Function& function,
                              const loop::Plan& plan) {
  DotLoopPlaces places;
  int64_t temporary = 0;  // shared by all products that keep nothing
  ir::walk(function.body(), [&](const ir::Operation* op) {
    if (op->is(ir::Opcode::kDot)) temporary = std::max(temporary, dot_scratch_bytes(host, op));
  });
  if (!plan.dot_loops.empty()) {
    const analysis::Facts facts(function);
    const analysis::MemoryEffects effects(function);
    for (const loop::DotLoop& dot_loop : plan.dot_loops) {
      const bool may_keep = is_never_written(dot_loop.b.load, function, effects);
      places.specs.push_back(
          gemm_of(dot_loop, facts, may_keep ? PackedOperand::kKept : PackedOperand::kTemporary));
      const int64_t bytes = dot_loop_scratch_bytes(host, dot_loop.dot, places.specs.back());
      if (!may_keep) temporary = std::max(temporary, bytes);
    }
  }
  places.scratch_bytes = (temporary + 63) / 64 * 64;
  for (size_t index = 0; index < places.specs.size(); ++index) {
    const bool keeps = places.specs[index].packed_b == PackedOperand::kKept;
    places.offsets.push_back(keeps ? places.scratch_bytes : 0);
    if (keeps)
      places.scratch_bytes +=
          dot_loop_scratch_bytes(host, plan.dot_loops[index].dot, places.specs[index]);
  }
  return places;
}

ProgramOrder choose_order(const loop::Plan& plan) {
  ProgramOrder order;
  if (plan.dot_loops.empty()) return order;
  const unsigned a = axes_of(plan.dot_loops[0].a), b = axes_of(plan.dot_loops[0].b);
  auto leaves_b = [&](int32_t axis) { return (b >> axis & 1) == 0; };
  auto moves_a = [&](int32_t axis) { return leaves_b(axis) && (a >> axis & 1) != 0; };
  std::ranges::stable_partition(order.walk, leaves_b);
  std::ranges::stable_partition(order.walk, moves_a);
  order.shares_columns = moves_a(order.walk[0]);
  return order;
}

}  // namespace enceladus::cpu
