#include "lowering/tile_to_simt/layouts.h"

#include <algorithm>
#include <bit>

#include "support/check.h"

namespace enceladus::simt {

using layout::axis_dim;
using layout::Space;

int log2_of(int64_t power_of_two) {
  ENC_CHECK(power_of_two > 0 && std::has_single_bit(static_cast<uint64_t>(power_of_two)));
  return std::countr_zero(static_cast<uint64_t>(power_of_two));
}

int register_bits(const LinearLayout& layout) { return layout.in().bits(Dim::kRegister); }
int register_count(const LinearLayout& layout) { return 1 << register_bits(layout); }
int warp_bits(const LinearLayout& layout) { return layout.in().bits(Dim::kWarp); }

LinearLayout make_layout(std::span<const int64_t> shape, std::span<const TileBit> registers,
                         std::span<const TileBit> lanes, std::span<const TileBit> warps) {
  Space tile = Space::tile(shape);
  std::vector<uint64_t> basis;
  for (std::span<const TileBit> bits : {registers, lanes, warps})
    for (const TileBit& bit : bits)
      basis.push_back(bit.none() ? 0 : uint64_t{1} << (tile.offset(axis_dim(bit.axis)) + bit.bit));
  Space in{{Dim::kRegister, static_cast<int>(registers.size())},
           {Dim::kLane, static_cast<int>(lanes.size())},
           {Dim::kWarp, static_cast<int>(warps.size())}};
  return LinearLayout(std::move(in), std::move(tile), std::move(basis));
}

TileBit image(const LinearLayout& layout, Dim dim, int bit) {
  uint64_t packed = layout.basis_of(dim, bit);
  if (packed == 0) return {};
  ENC_CHECK(std::has_single_bit(packed), "a position bit moves several bits of the tile");
  int position = std::countr_zero(packed);
  for (const Space::Part& part : layout.out().parts()) {
    if (position < part.bits)
      return {static_cast<int>(part.dim) - static_cast<int>(Dim::kAxis0), position};
    position -= part.bits;
  }
  return {};
}

std::vector<TileBit> images(const LinearLayout& layout, Dim dim) {
  std::vector<TileBit> result;
  for (int bit = 0; bit < layout.in().bits(dim); ++bit) result.push_back(image(layout, dim, bit));
  return result;
}

Shape shape_of(const LinearLayout& layout) {
  Shape shape(layout.out().parts().size());
  for (const Space::Part& part : layout.out().parts())
    shape[static_cast<size_t>(part.dim) - static_cast<size_t>(Dim::kAxis0)] = int64_t{1}
                                                                              << part.bits;
  return shape;
}

LinearLayout blocked_layout(std::span<const int64_t> shape, std::span<const int> order,
                            int vector_bits, int warp_bits) {
  std::vector<TileBit> bits;
  for (int axis : order)
    for (int bit = 0; bit < log2_of(shape[static_cast<size_t>(axis)]); ++bit)
      bits.push_back({axis, bit});
  int total = static_cast<int>(bits.size());
  int first_axis = order.empty() ? 0 : log2_of(shape[static_cast<size_t>(order.front())]);
  int vector = std::clamp(total - kLaneBits - warp_bits, 0, std::min(vector_bits, first_axis));
  int lanes = std::min(kLaneBits, total - vector);
  int warps = std::min(warp_bits, total - vector - lanes);
  auto slice = [&](int from, int count) {
    return std::vector<TileBit>(bits.begin() + from, bits.begin() + from + count);
  };
  std::vector<TileBit> register_part = slice(0, vector), lane_part = slice(vector, lanes);
  std::vector<TileBit> middle = slice(vector + lanes, total - vector - lanes - warps);
  std::vector<TileBit> warp_part = slice(total - warps, warps);
  register_part.insert(register_part.end(), middle.begin(), middle.end());
  lane_part.resize(kLaneBits);
  warp_part.resize(static_cast<size_t>(warp_bits));
  return make_layout(shape, register_part, lane_part, warp_part);
}

LinearLayout default_layout(std::span<const int64_t> shape, int warp_bits) {
  std::vector<int> order;
  for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis) order.push_back(axis);
  return blocked_layout(shape, order, 2, warp_bits);
}

namespace {

// The layout with every image sent through `move`, over a tile of another shape.
template <typename Move>
LinearLayout moved(const LinearLayout& layout, std::span<const int64_t> shape, const Move& move) {
  auto all = [&](Dim dim) {
    std::vector<TileBit> bits = images(layout, dim);
    for (TileBit& bit : bits)
      if (!bit.none()) bit = move(bit);
    return bits;
  };
  return make_layout(shape, all(Dim::kRegister), all(Dim::kLane), all(Dim::kWarp));
}

}  // namespace

LinearLayout drop_axis(const LinearLayout& layout, int axis) {
  Shape shape = shape_of(layout);
  shape.erase(shape.begin() + axis);
  return moved(layout, shape, [&](TileBit bit) {
    if (bit.axis == axis) return TileBit();
    return TileBit{bit.axis - (bit.axis > axis ? 1 : 0), bit.bit};
  });
}

LinearLayout insert_axis(const LinearLayout& layout, int axis) {
  Shape shape = shape_of(layout);
  shape.insert(shape.begin() + axis, 1);
  return moved(layout, shape, [&](TileBit bit) {
    return TileBit{bit.axis + (bit.axis >= axis ? 1 : 0), bit.bit};
  });
}

LinearLayout narrow_axes(const LinearLayout& layout, std::span<const int64_t> operand_shape) {
  return moved(layout, operand_shape, [&](TileBit bit) {
    bool kept = operand_shape[static_cast<size_t>(bit.axis)] > int64_t{1} << bit.bit;
    return kept ? bit : TileBit();
  });
}

LinearLayout reshape(const LinearLayout& layout, std::span<const int64_t> shape) {
  return layout.with_out_space(Space::tile(shape));
}

LinearLayout permute(const LinearLayout& layout, std::span<const int64_t> permutation) {
  Shape from = shape_of(layout), shape;
  for (int64_t axis : permutation) shape.push_back(from[static_cast<size_t>(axis)]);
  std::vector<int64_t> place = inverse_permutation(permutation);
  return moved(layout, shape, [&](TileBit bit) {
    return TileBit{static_cast<int>(place[static_cast<size_t>(bit.axis)]), bit.bit};
  });
}

std::vector<int64_t> inverse_permutation(std::span<const int64_t> permutation) {
  std::vector<int64_t> inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    inverse[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return inverse;
}

CompactLayout without_free_registers(const LinearLayout& layout) {
  std::vector<TileBit> kept;
  std::vector<int> place;  // of each former register bit, -1 where it is free
  for (const TileBit& bit : images(layout, Dim::kRegister)) {
    place.push_back(bit.none() ? -1 : static_cast<int>(kept.size()));
    if (!bit.none()) kept.push_back(bit);
  }
  CompactLayout result;
  result.layout =
      make_layout(shape_of(layout), kept, images(layout, Dim::kLane), images(layout, Dim::kWarp));
  for (int64_t r = 0; r < register_count(layout); ++r) {
    int64_t target = 0;
    for (size_t bit = 0; bit < place.size(); ++bit)
      if (place[bit] >= 0 && (r >> bit & 1)) target |= int64_t{1} << place[bit];
    result.map.push_back(target);
  }
  return result;
}

Bases coordinate_bases(const LinearLayout& layout, int axis) {
  Bases bases;
  auto fill = [&](Dim dim, std::vector<int64_t>& list) {
    for (const TileBit& bit : images(layout, dim))
      list.push_back(bit.axis == axis ? int64_t{1} << bit.bit : 0);
  };
  fill(Dim::kRegister, bases.registers);
  fill(Dim::kLane, bases.lanes);
  fill(Dim::kWarp, bases.warps);
  return bases;
}

Bases offset_bases(const LinearLayout& layout, const LinearLayout& memory) {
  LinearLayout offsets = layout.then(memory.inverse());
  Bases bases;
  auto fill = [&](Dim dim, std::vector<int64_t>& list) {
    for (int bit = 0; bit < offsets.in().bits(dim); ++bit)
      list.push_back(static_cast<int64_t>(offsets.basis_of(dim, bit)));
  };
  fill(Dim::kRegister, bases.registers);
  fill(Dim::kLane, bases.lanes);
  fill(Dim::kWarp, bases.warps);
  return bases;
}

int64_t free_lanes(const LinearLayout& layout) {
  int64_t mask = 0;
  for (int bit = 0; bit < layout.in().bits(Dim::kLane); ++bit)
    if (layout.basis_of(Dim::kLane, bit) == 0) mask |= int64_t{1} << bit;
  return mask;
}

int64_t free_warps(const LinearLayout& layout) {
  int64_t mask = 0;
  for (int bit = 0; bit < layout.in().bits(Dim::kWarp); ++bit)
    if (layout.basis_of(Dim::kWarp, bit) == 0) mask |= int64_t{1} << bit;
  return mask;
}

}  // namespace enceladus::simt
