#include "codegen/cpu/loop_nest.h"

#include <algorithm>

namespace enceladus::cpu {
namespace {

using ir::Opcode;

bool has_reduction(const loop::Group& group) {
  return std::ranges::any_of(
      group.roots, [](const loop::Root& root) { return root.kind == loop::RootKind::kReduce; });
}

bool has_custom_combination(const loop::Group& group) {
  return std::any_of(group.roots.begin(), group.roots.end(), [](const loop::Root& root) {
    return root.kind == loop::RootKind::kReduce && !root.op->regions().empty();
  });
}

bool has_side_calls(const loop::Group& group) {
  return std::any_of(group.roots.begin(), group.roots.end(), [](const loop::Root& root) {
    return root.kind == loop::RootKind::kEffect && !root.op->is(Opcode::kStore) &&
           !root.op->is(Opcode::kDescriptorStore);
  });
}

int choose_unroll(const loop::Group& group, const HostTarget& host) {
  if (group.is_ordered || has_custom_combination(group) || has_side_calls(group)) return 1;
  // Four independent accumulators hide the latency of an addition; a long body hides its own, and
  // would run out of registers. Turns that do not depend on one another overlap by themselves: two
  // vectors make the counting cheap, more only make code.
  const int registers = host.vector_registers;
  if (group.cost <= registers && has_reduction(group)) return 4;
  return group.cost <= 4 * registers ? 2 : 1;
}

}  // namespace

int64_t LoopNest::lane_stride(int axis) const {
  int64_t stride = 1;
  for (size_t later = static_cast<size_t>(axis) + 1; later < axis_lanes.size(); ++later)
    stride *= axis_lanes[later];
  return stride;
}

LoopNest make_loop_nest(const loop::Group& group, const HostTarget& host) {
  LoopNest nest;
  int64_t elements = 1;
  for (const int64_t extent : group.space) elements *= extent;
  nest.lanes = static_cast<int>(
      std::min<int64_t>(host.vector_bytes / std::max(1, group.element_bytes), elements));
  const size_t rank = group.space.size();
  nest.axis_lanes.assign(rank, 1);
  nest.axis_turns.assign(rank, 1);
  int64_t lanes_left = nest.lanes;
  for (size_t axis = rank; axis-- > 0;) {
    nest.axis_lanes[axis] = std::min(lanes_left, group.space[axis]);
    nest.axis_turns[axis] = group.space[axis] / nest.axis_lanes[axis];
    lanes_left /= nest.axis_lanes[axis];
  }
  nest.inner_axis = group.inner_axis;
  for (size_t axis = rank; axis-- > 0 && nest.inner_axis < 0;)
    if (nest.axis_turns[axis] > 1) nest.inner_axis = static_cast<int>(axis);
  for (size_t axis = 0; axis < rank; ++axis)
    if (static_cast<int>(axis) != nest.inner_axis && nest.axis_turns[axis] > 1)
      nest.outer_axes.push_back(static_cast<int>(axis));
  nest.unroll = static_cast<int>(std::min<int64_t>(choose_unroll(group, host), nest.inner_turns()));
  return nest;
}

}  // namespace enceladus::cpu
