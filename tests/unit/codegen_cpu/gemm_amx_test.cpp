// Tile products on AMX, computed in software where the host has none: against a plain triple loop,
// exactly, with whole and partial blocks along every axis.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "amx_emulation.h"
#include "codegen/cpu/gemm_plan.h"
#include "tile_case.h"

namespace enceladus::cpu {
namespace {

constexpr ProductTypes kOperands[] = {
    {DType::kBFloat16, DType::kBFloat16, DType::kFloat32},
    {DType::kInt8, DType::kInt8, DType::kInt32},
    {DType::kInt8, DType::kUInt8, DType::kInt32},
    {DType::kUInt8, DType::kInt8, DType::kInt32},
    {DType::kUInt8, DType::kUInt8, DType::kInt32},
};

// Computes it, and sees that it was AMX that did so, and that its tiles were given back.
void check(const GemmSpec& spec, const Sizes& sizes) {
  ASSERT_TRUE(plan_gemm(emulated_amx_target(), spec).format.uses_amx());
  const int products = amx_state().products;
  TileCase(spec, sizes, emulated_amx_target()).check();
  if (sizes.depth > 0) {
    EXPECT_GT(amx_state().products, products);
  }
  EXPECT_FALSE(amx_state().is_set_up);
}

class GemmAmx : public testing::TestWithParam<ProductTypes> {
 protected:
  void SetUp() override {
    if (host_target().architecture != Architecture::kX86) GTEST_SKIP() << "x86-64 instructions";
  }
  GemmSpec spec(int rows, int columns) const { return GetParam().spec(rows, columns); }
};

TEST_P(GemmAmx, product_is_exact_for_whole_tiles) { check(spec(64, 64), {64, 64, 128}); }

TEST_P(GemmAmx, product_is_exact_at_ragged_edges) {
  for (int64_t rows : {1, 15, 16, 17, 31, 33, 64}) check(spec(64, 64), {rows, 64, 70});
  for (int64_t columns : {1, 15, 16, 17, 33}) check(spec(64, 64), {40, columns, 64});
  for (int64_t depth : {0, 1, 2, 31, 32, 33, 65, 100, 257}) check(spec(64, 64), {33, 47, depth});
}

TEST_P(GemmAmx, operands_that_are_not_read_in_place_give_the_same) {
  for (const Sizes& sizes : {Sizes{32, 32, 64}, {31, 30, 61}, {17, 3, 200}, {1, 32, 64}}) {
    GemmSpec both = spec(32, 32);
    both.a_order = OperandOrder::kAcross;
    both.b_order = OperandOrder::kDepth;
    check(both, sizes);
    both.a_order = both.b_order = OperandOrder::kStrided;
    check(both, sizes);
  }
}

TEST_P(GemmAmx, adds_to_the_tile) {
  GemmSpec adding = spec(64, 32);
  adding.start = GemmStart::kTile;
  for (const Sizes& sizes : {Sizes{64, 32, 128}, {11, 19, 2500}, {49, 32, 1100}})
    check(adding, sizes);
}

TEST_P(GemmAmx, an_operand_that_ends_early_counts_as_zero_there) {
  GemmSpec differing = spec(32, 32);
  differing.depth_edge = DepthEdge::kMayDiffer;
  differing.depth_multiple = 64;
  check(differing, {32, 32, 64, 51, 64});
  check(differing, {32, 32, 64, 64, 45});
  check(differing, {9, 31, 2100, 1000, 2099});
}

TEST_P(GemmAmx, panels_of_a_deep_product_are_kept) {
  GemmSpec kept = spec(64, 64);
  kept.packed_b = PackedOperand::kKept;
  check(kept, {64, 64, 3000});
}

INSTANTIATE_TEST_SUITE_P(Operands, GemmAmx, testing::ValuesIn(kOperands), [](const auto& test) {
  return std::string(::enceladus::info(test.param.a).text_name) + "_" +
         std::string(::enceladus::info(test.param.b).text_name);
});

GemmSpec bfloat16_spec() {
  return {.a = DType::kBFloat16,
          .b = DType::kBFloat16,
          .accumulator = DType::kFloat32,
          .rows = 64,
          .columns = 64};
}

TEST(GemmAmxFigures, tiles_of_every_power_of_two) {
  if (host_target().architecture != Architecture::kX86) GTEST_SKIP() << "x86-64 instructions";
  for (int rows : {4, 16, 32, 128})
    for (int columns : {1, 8, 16, 32, 128}) {
      if (rows * columns < 64) continue;  // too small
      GemmSpec each = bfloat16_spec();
      each.rows = rows;
      each.columns = columns;
      each.depth_multiple = 64;
      check(each, {rows, columns, 64});
      each.a_order = OperandOrder::kAcross;
      check(each, {rows - 1, columns, 66});
    }
}

TEST(GemmAmxFigures, nan_and_infinity_reach_their_row_and_column_only) {
  if (host_target().architecture != Architecture::kX86) GTEST_SKIP() << "x86-64 instructions";
  TileCase product(bfloat16_spec(), {40, 40, 50}, emulated_amx_target());
  product.set_a(33, 4, std::numeric_limits<double>::quiet_NaN());
  product.set_b(47, 5, std::numeric_limits<double>::infinity());
  product.run();
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 40; ++j) {
      if (i == 33)
        EXPECT_TRUE(std::isnan(product.c(i, j))) << j;
      else
        EXPECT_EQ(std::isfinite(product.c(i, j)), j != 5) << i << ", " << j;
    }
}

TEST(GemmAmxFigures, whole_blocks_need_one_setup) {
  if (host_target().architecture != Architecture::kX86) GTEST_SKIP() << "x86-64 instructions";
  int setups = amx_state().setups;
  TileCase(bfloat16_spec(), {64, 64, 3000}, emulated_amx_target()).run();
  EXPECT_EQ(amx_state().setups, setups + 1);
  setups = amx_state().setups;
  TileCase(bfloat16_spec(), {63, 64, 3000}, emulated_amx_target()).run();
  EXPECT_EQ(amx_state().setups, setups + 1 + 2 * 3) << "two more at each step's last block";
}

TEST(GemmAmxFigures, rows_of_sums_lie_where_any_depth_expects_them) {
  for (int columns : {16, 32, 64, 128}) {
    GemmSpec loop = bfloat16_spec();
    loop.rows = 32;
    loop.columns = columns;
    GemmSpec turn = loop;
    turn.depth = 8;
    const HostTarget& target = emulated_amx_target();
    ASSERT_NE(plan_gemm(target, loop).format.uses_amx(), plan_gemm(target, turn).format.uses_amx());
    EXPECT_EQ(gemm_row_stride(target, loop), gemm_row_stride(target, turn)) << columns;
    TileCase(turn, {31, columns, 8}, target).check();
    check(loop, {32, columns, 50});
  }
}

TEST(GemmAmxFigures, small_products_stay_on_vectors) {
  GemmSpec small = bfloat16_spec();
  small.rows = small.columns = 16;
  small.depth = 64;
  EXPECT_FALSE(plan_gemm(emulated_amx_target(), small).format.uses_amx());
  EXPECT_EQ(multiplied_by(emulated_amx_target(), bfloat16_spec()), "tdpbf16ps on AMX tiles");
}

}  // namespace
}  // namespace enceladus::cpu
