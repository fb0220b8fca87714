#include "layout/linear_layout.h"

#include <gtest/gtest.h>

#include <set>

#include "layout/random_layouts.h"

namespace enceladus::layout {
namespace {

const Space kTile{{axis_dim(1), 3}, {axis_dim(0), 2}};

TEST(LinearLayout, product_tiles_the_small_layout_by_the_large_one) {
  LinearLayout registers = LinearLayout::identity(Dim::kRegister, axis_dim(0), 1);
  LinearLayout lanes = LinearLayout::identity(Dim::kLane, axis_dim(0), 2);
  LinearLayout both = registers * lanes;
  EXPECT_EQ(to_string(both), "register: (1)\nlane: (2), (4)\n");
  EXPECT_EQ(to_string(*both.divide_inner(registers)), "register:\nlane: (1), (2)\n");
  EXPECT_TRUE(both.divide_outer(lanes).has_value());
  EXPECT_FALSE(both.divide_inner(lanes).has_value());
}

TEST(LinearLayout, copies_are_free_bits) {
  LinearLayout layout = LinearLayout::identity(Dim::kLane, axis_dim(0), 3) *
                        LinearLayout::copies(Dim::kLane, 2) *
                        LinearLayout::identity(Dim::kWarp, axis_dim(0), 1);
  EXPECT_EQ(layout.free_bits(Dim::kLane), 0b11000);
  EXPECT_EQ(layout.free_bits(Dim::kWarp), 0);
  EXPECT_TRUE(layout.is_surjective());
  EXPECT_FALSE(layout.is_injective());
}

TEST(LinearLayout, divided_products_multiply_back) {
  RandomLayouts random(7);
  for (int round = 0; round < 200; ++round) {
    LinearLayout inner = random.distributed(kTile, 2, 3, 1),
                 outer = random.distributed(kTile, 1, 3, 2);
    LinearLayout product = inner * outer;
    ASSERT_TRUE(product.divide_inner(inner).has_value()) << "round " << round;
    EXPECT_EQ(inner * *product.divide_inner(inner), product);
    EXPECT_EQ(*product.divide_outer(outer) * outer, product);
  }
}

TEST(LinearLayout, apply_is_linear_and_composition_agrees_with_it) {
  RandomLayouts random(1);
  for (int round = 0; round < 100; ++round) {
    LinearLayout first = random.distributed(kTile, 2, 3, 1);
    LinearLayout inverse = first.inverse();
    LinearLayout round_trip = inverse.then(first);
    for (uint64_t x = 0; x < 32; ++x) {
      EXPECT_EQ(round_trip.apply(x), x);
      EXPECT_EQ(first.apply(inverse.apply(x)), x);
      EXPECT_EQ(first.apply(x ^ 13), first.apply(x) ^ first.apply(13));
    }
  }
}

TEST(LinearLayout, owners_hold_each_element_exactly_once) {
  RandomLayouts random(2);
  for (int round = 0; round < 200; ++round) {
    LinearLayout layout = random.distributed(kTile, 3, 4, 2);
    std::multiset<uint64_t> owned;
    for (uint64_t x = 0; x < static_cast<uint64_t>(layout.in().size()); ++x)
      if ((x & layout.free_bits()) == 0) owned.insert(layout.apply(x));
    ASSERT_EQ(owned.size(), 32u) << "round " << round;
    EXPECT_EQ(std::set<uint64_t>(owned.begin(), owned.end()).size(), 32u);
  }
}

TEST(LinearLayout, pulled_positions_hold_the_element) {
  RandomLayouts random(3);
  for (int round = 0; round < 300; ++round) {
    LinearLayout from = random.distributed(kTile, random.number(0, 3), 4, random.number(1, 2));
    LinearLayout to = random.distributed(kTile, random.number(1, 3), 3, random.number(1, 2));
    if (!from.is_surjective()) continue;
    LinearLayout pull = to.pull_from(from);
    for (uint64_t x = 0; x < static_cast<uint64_t>(to.in().size()); ++x)
      EXPECT_EQ(from.apply(pull.apply(x)), to.apply(x)) << "round " << round;
  }
}

TEST(LinearLayout, reordering_dimensions_keeps_the_map) {
  RandomLayouts random(4);
  LinearLayout layout = random.distributed(kTile, 2, 2, 1);
  Dim order[] = {axis_dim(0), axis_dim(1)};
  LinearLayout reordered = layout.with_out_order(order);
  for (uint64_t x = 0; x < 32; ++x)
    for (Dim dim : order)
      EXPECT_EQ(reordered.out().coordinate(reordered.apply(x), dim),
                layout.out().coordinate(layout.apply(x), dim));
}

}  // namespace
}  // namespace enceladus::layout
