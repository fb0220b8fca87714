// Layouts by brute force: who holds and who owns each element.
#include "lowering/tile_to_simt/layouts.h"

#include <gtest/gtest.h>

#include <map>

namespace enceladus::simt {
namespace {

// How many owners each element has: threads without a set free bit, all of their registers.
std::map<uint64_t, int> owners(const LinearLayout& layout) {
  std::map<uint64_t, int> count;
  const layout::Space& in = layout.in();
  for (uint64_t position = 0; position < static_cast<uint64_t>(in.size()); ++position) {
    if (in.coordinate(position, Dim::kLane) & free_lanes(layout)) continue;
    if (in.coordinate(position, Dim::kWarp) & free_warps(layout)) continue;
    ++count[layout.apply(position)];
  }
  return count;
}

void expect_one_owner_each(const LinearLayout& layout) {
  std::map<uint64_t, int> count = owners(layout);
  EXPECT_EQ(static_cast<int64_t>(count.size()), layout.out().size());
  for (const auto& [element, times] : count) EXPECT_EQ(times, 1) << element;
}

TEST(Layouts, blocked_layouts_give_each_element_one_owner) {
  const std::vector<Shape> shapes = {{1},     {8},      {64},     {1024},
                                     {1, 32}, {16, 64}, {128, 2}, {4, 8, 16}};
  for (const Shape& shape : shapes)
    for (int warp_bits : {0, 2, 5})
      for (int vector_bits : {0, 2}) {
        std::vector<int> order;
        for (size_t axis = 0; axis < shape.size(); ++axis) order.push_back(static_cast<int>(axis));
        expect_one_owner_each(blocked_layout(shape, order, vector_bits, warp_bits));
        expect_one_owner_each(default_layout(shape, warp_bits));
      }
}

TEST(Layouts, a_dropped_axis_leaves_one_owner_each) {
  LinearLayout layout = default_layout(std::vector<int64_t>{16, 64}, 2);
  for (int axis : {0, 1}) {
    CompactLayout compact = without_free_registers(drop_axis(layout, axis));
    expect_one_owner_each(compact.layout);
    EXPECT_EQ(compact.map.size(), static_cast<size_t>(register_count(layout)));
  }
}

TEST(Layouts, permuting_and_back_gives_the_layout) {
  LinearLayout layout = default_layout(std::vector<int64_t>{4, 8, 16}, 2);
  std::vector<int64_t> permutation = {2, 0, 1};
  LinearLayout there = permute(layout, permutation);
  EXPECT_EQ(shape_of(there), (Shape{16, 4, 8}));
  EXPECT_EQ(permute(there, inverse_permutation(permutation)), layout);
}

TEST(Layouts, vectors_lie_in_the_lowest_registers_and_warps_outermost) {
  LinearLayout layout = blocked_layout(std::vector<int64_t>{1024}, std::vector<int>{0}, 2, 2);
  EXPECT_EQ(image(layout, Dim::kRegister, 1).bit, 1);
  EXPECT_EQ(image(layout, Dim::kLane, 0).bit, 2);
  EXPECT_EQ(image(layout, Dim::kWarp, 1).bit, 9);
}

}  // namespace
}  // namespace enceladus::simt
