// Layouts on the way of what warps exchange: parts of an axis that each warp has combined to one.
#pragma once

#include <optional>

#include "lowering/tile_to_simt/layouts.h"

namespace enceladus::simt {

struct AxisPlace {
  Dim dim;
  int bit;
};
// Which position bit selects a bit of an axis; none where it is not distributed (it always is, for
// whole tiles).
std::optional<AxisPlace> place_of(const LinearLayout& layout, int axis, int bit);

// Whether warps have the upper bits of the axis, as a scan needs.
bool suits_scan(const LinearLayout& layout, int axis);

// The layout with the axis's register and lane bits made free; its registers are not compact.
LinearLayout keep_warps_of_axis(const LinearLayout& layout, int axis);

// Where only warps' bits of the axis are left: the axis shrunk to these, renumbered from 0.
LinearLayout renumbered(const LinearLayout& layout, int axis);

// The same elements with the axis on free lanes as far as these go, then in registers.
LinearLayout axis_on_free_lanes(const LinearLayout& layout, int axis);
// The same with the whole axis in registers, its bits behind the others.
LinearLayout axis_in_registers(const LinearLayout& layout, int axis);

}  // namespace enceladus::simt
