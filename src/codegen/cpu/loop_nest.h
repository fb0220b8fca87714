// How a group's tile shape is cut into a loop nest: which elements make a vector, which axis is
// innermost, how many vectors a turn of it takes. Figures only, no LLVM.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/cpu/host_target.h"
#include "lowering/tile_to_loop/plan.h"

namespace enceladus::cpu {

struct LoopNest {
  int lanes = 1;                    // of a vector: consecutive elements in row-major order
  std::vector<int64_t> axis_lanes;  // elements of each axis in a vector
  std::vector<int64_t> axis_turns;  // vectors along each axis
  std::vector<int> outer_axes;      // loops around the innermost one, outermost first
  int inner_axis = -1;              // -1: one vector, no loop
  int unroll = 1;                   // vectors a turn of the innermost loop takes

  int64_t inner_turns() const { return inner_axis < 0 ? 1 : axis_turns[inner_axis]; }
  // Elements of a vector between neighbours along the axis.
  int64_t lane_stride(int axis) const;
};

LoopNest make_loop_nest(const loop::Group& group, const HostTarget& host);

}  // namespace enceladus::cpu
