// Tile products against a plain triple loop, exactly.
#include "codegen/cpu/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tile_case.h"

namespace enceladus::cpu {
namespace {

GemmSpec float_spec(int rows, int columns) {
  return {.a = DType::kFloat32,
          .b = DType::kFloat32,
          .accumulator = DType::kFloat32,
          .rows = rows,
          .columns = columns};
}

constexpr ProductTypes kTypes[] = {
    {DType::kFloat32, DType::kFloat32, DType::kFloat32},
    {DType::kFloat64, DType::kFloat64, DType::kFloat64},
    {DType::kFloat16, DType::kFloat16, DType::kFloat32},
    {DType::kBFloat16, DType::kBFloat16, DType::kFloat32},
    {DType::kFloat16, DType::kFloat32, DType::kFloat32},
    {DType::kFloat8E4M3, DType::kFloat8E4M3, DType::kFloat32},
    {DType::kFloat8E5M2, DType::kFloat8E4M3, DType::kFloat32},
    {DType::kInt8, DType::kInt8, DType::kInt32},
    {DType::kUInt8, DType::kUInt8, DType::kInt32},
    {DType::kInt8, DType::kUInt8, DType::kInt32},
    {DType::kUInt8, DType::kInt8, DType::kInt32},
    {DType::kInt16, DType::kInt16, DType::kInt32},
    {DType::kUInt16, DType::kUInt16, DType::kInt32},
    {DType::kInt32, DType::kInt32, DType::kInt32},
};

class GemmTypes : public testing::TestWithParam<ProductTypes> {
 protected:
  GemmSpec spec(int rows, int columns) const { return GetParam().spec(rows, columns); }
};

TEST_P(GemmTypes, product_is_exact_for_whole_tiles) {
  TileCase(spec(64, 64), {64, 64, 64}).check();
}

TEST_P(GemmTypes, product_is_exact_at_ragged_edges) {
  for (const Sizes& sizes : {Sizes{1, 1, 1}, {7, 5, 7}, {63, 33, 63}, {13, 64, 65}, {32, 17, 130}})
    TileCase(spec(64, 64), sizes).check();
}

TEST_P(GemmTypes, transposed_operands_give_the_same) {
  for (const Sizes& sizes : {Sizes{32, 32, 64}, {31, 30, 61}, {5, 3, 9}}) {
    GemmSpec both = spec(32, 32);
    both.a_order = OperandOrder::kAcross;
    both.b_order = OperandOrder::kDepth;
    TileCase(both, sizes).check();
    both.a_order = both.b_order = OperandOrder::kStrided;
    TileCase(both, sizes).check();
  }
}

TEST_P(GemmTypes, adds_to_the_tile) {
  GemmSpec adding = spec(16, 32);
  adding.start = GemmStart::kTile;
  for (const Sizes& sizes : {Sizes{16, 32, 48}, {11, 19, 2500}}) TileCase(adding, sizes).check();
}

TEST_P(GemmTypes, an_operand_that_ends_early_counts_as_zero_there) {
  GemmSpec differing = spec(16, 32);
  differing.depth_edge = DepthEdge::kMayDiffer;
  TileCase(differing, {16, 32, 64, 51, 64}).check();
  TileCase(differing, {16, 32, 64, 64, 45}).check();
  TileCase(differing, {9, 31, 2100, 1000, 2099}).check();
}

INSTANTIATE_TEST_SUITE_P(Types, GemmTypes, testing::ValuesIn(kTypes), [](const auto& test) {
  return std::string(::enceladus::info(test.param.a).text_name) + "_" +
         std::string(::enceladus::info(test.param.b).text_name) + "_" +
         std::string(::enceladus::info(test.param.accumulator).text_name);
});

TEST(Gemm, tiles_of_every_power_of_two) {
  for (int rows : {1, 2, 4, 8, 16, 128})
    for (int columns : {1, 4, 8, 16, 256})
      TileCase(float_spec(rows, columns), {rows, columns, 33}).check();
}

TEST(Gemm, depth_longer_than_a_step_is_added_up) {
  GemmSpec spec = float_spec(16, 16);
  TileCase(spec, {16, 16, 5000}).check();
  spec.packed_b = PackedOperand::kKept;
  TileCase(spec, {16, 16, 5000}).check();
}

TEST(Gemm, depth_of_zero_gives_zeros) { TileCase(float_spec(16, 16), {16, 16, 0}).check(); }

TEST(Gemm, nan_and_infinity_reach_their_row_and_column_only) {
  TileCase product(float_spec(16, 16), {16, 16, 20});
  product.set_a(3, 4, std::numeric_limits<double>::quiet_NaN());
  product.set_b(7, 5, std::numeric_limits<double>::infinity());
  product.run();
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      if (i == 3)
        EXPECT_TRUE(std::isnan(product.c(i, j)));
      else
        EXPECT_EQ(std::isfinite(product.c(i, j)), j != 5) << i << ", " << j;
    }
}

TEST(Gemm, kept_panels_are_reused_until_the_launch_or_the_operand_changes) {
  GemmSpec spec = float_spec(16, 16);
  spec.packed_b = PackedOperand::kKept;
  TileCase product(spec, {16, 16, 40});
  const JitFunction& run = compiled_gemm(spec);
  GemmCall arguments = product.call();
  run(&arguments);
  const double first = product.c(2, 3);
  product.set_b(1, 3, product.b(1, 3) + 1);
  run(&arguments);
  EXPECT_EQ(product.c(2, 3), first) << "the packed operand was not reused";
  ++arguments.generation;
  run(&arguments);
  EXPECT_EQ(product.c(2, 3), first + product.a(2, 1)) << "a new launch must pack again";
  product.set_b(1, 3, product.b(1, 3) + 1);
  arguments.columns = 15;
  run(&arguments);
  EXPECT_EQ(product.c(2, 3), first + 2 * product.a(2, 1)) << "another operand must be packed";
}

}  // namespace
}  // namespace enceladus::cpu
