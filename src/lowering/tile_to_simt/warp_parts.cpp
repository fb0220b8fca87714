#include "lowering/tile_to_simt/warp_parts.h"

#include <algorithm>

namespace enceladus::simt {
namespace {

LinearLayout gathered(const LinearLayout& layout, int axis, bool use_lanes) {
  std::vector<TileBit> registers = images(layout, Dim::kRegister);
  std::vector<TileBit> lanes = images(layout, Dim::kLane), warps = images(layout, Dim::kWarp);
  int bits = log2_of(shape_of(layout)[static_cast<size_t>(axis)]), next = 0;
  for (TileBit& lane : lanes)
    if (use_lanes && lane.none() && next < bits) lane = {axis, next++};
  while (next < bits) registers.push_back({axis, next++});
  for (TileBit& warp : warps)
    if (is_on(warp, axis)) warp = {};
  return make_layout(shape_of(layout), registers, lanes, warps);
}

}  // namespace

std::optional<AxisPlace> place_of(const LinearLayout& layout, int axis, int bit) {
  for (Dim dim : {Dim::kRegister, Dim::kLane, Dim::kWarp})
    for (int i = 0; i < layout.in().bits(dim); ++i) {
      TileBit image_bit = image(layout, dim, i);
      if (is_on(image_bit, axis) && image_bit.bit == bit) return AxisPlace{dim, i};
    }
  return std::nullopt;
}

bool suits_scan(const LinearLayout& layout, int axis) {
  int bits = log2_of(shape_of(layout)[static_cast<size_t>(axis)]);
  bool in_warps = false;
  for (int bit = 0; bit < bits; ++bit) {
    std::optional<AxisPlace> place = place_of(layout, axis, bit);
    if (!place || (in_warps && place->dim != Dim::kWarp)) return false;
    in_warps = place->dim == Dim::kWarp;
  }
  return true;
}

LinearLayout keep_warps_of_axis(const LinearLayout& layout, int axis) {
  std::vector<TileBit> registers = images(layout, Dim::kRegister);
  std::vector<TileBit> lanes = images(layout, Dim::kLane);
  for (std::vector<TileBit>* bits : {&registers, &lanes})
    for (TileBit& bit : *bits)
      if (is_on(bit, axis)) bit = {};
  return make_layout(shape_of(layout), registers, lanes, images(layout, Dim::kWarp));
}

LinearLayout renumbered(const LinearLayout& layout, int axis) {
  Shape shape = shape_of(layout);
  std::vector<TileBit> warps = images(layout, Dim::kWarp);
  std::vector<int> present;
  for (const TileBit& bit : warps)
    if (is_on(bit, axis)) present.push_back(bit.bit);
  std::sort(present.begin(), present.end());
  for (TileBit& bit : warps)
    if (is_on(bit, axis))
      bit.bit = static_cast<int>(std::ranges::find(present, bit.bit) - present.begin());
  shape[static_cast<size_t>(axis)] = int64_t{1} << present.size();
  return make_layout(shape, images(layout, Dim::kRegister), images(layout, Dim::kLane), warps);
}

LinearLayout axis_on_free_lanes(const LinearLayout& layout, int axis) {
  return gathered(layout, axis, true);
}

LinearLayout axis_in_registers(const LinearLayout& layout, int axis) {
  return gathered(layout, axis, false);
}

}  // namespace enceladus::simt
