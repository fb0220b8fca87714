#include "ir/builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace enceladus::ir {
namespace {

class BuilderTest : public testing::Test {
 protected:
  Function function_{"kernel", {}};
  Builder builder_{function_};
  int64_t shape_[2] = {4, 8};
};

TEST_F(BuilderTest, replacing_a_value_moves_every_use) {
  Value* one = builder_.integer(Type::number(DType::kInt32), 1);
  Value* two = builder_.integer(Type::number(DType::kInt32), 2);
  Value* sum = builder_.create(Opcode::kAdd, {one, one});
  EXPECT_EQ(one->users().size(), 2u);
  one->replace_all_uses_with(two);
  EXPECT_FALSE(one->has_users());
  EXPECT_EQ(two->users().size(), 2u);
  EXPECT_EQ(sum->definition()->operand(0), two);
  EXPECT_EQ(sum->definition()->operand(1), two);
}

TEST_F(BuilderTest, broadcasting_a_row_expands_on_the_left) {
  int64_t row[1] = {8};
  Value* tile = builder_.floating(Type::number(DType::kFloat32, row), 1.0);
  Value* result = builder_.broadcast_to(tile, shape_);
  EXPECT_EQ(to_string(result->type()), "tile<4x8xf32>");
  EXPECT_TRUE(result->definition()->is(Opcode::kBroadcast));
  EXPECT_EQ(to_string(result->definition()->operand(0)->type()), "tile<1x8xf32>");
}

TEST_F(BuilderTest, erasing_a_loop_drops_the_uses_inside_it) {
  Value* zero = builder_.integer(Type::number(DType::kInt32), 0);
  Operation* loop = builder_.for_loop(zero, zero, zero, {});
  builder_.set_insertion_at_end(loop->region(0));
  builder_.create(Opcode::kAdd, {zero, loop->region(0)->argument(0)});
  builder_.yield({});
  loop->erase();
  EXPECT_FALSE(zero->has_users());
}

TEST(Bits, narrow_floats_round_once_to_nearest_even) {
  EXPECT_EQ(bits_of(DType::kFloat16, 65519.0), 0x7bffu);
  EXPECT_EQ(bits_of(DType::kFloat16, 65520.0), 0x7c00u);
  EXPECT_EQ(bits_of(DType::kFloat16, 0x1p-24), 1u);
  EXPECT_EQ(bits_of(DType::kFloat16, 0x1p-25), 0u);
  EXPECT_EQ(bits_of(DType::kFloat16, std::nextafter(0x1p-25, 1.0)), 1u);
  EXPECT_EQ(bits_of(DType::kFloat16, -0.0), 0x8000u);
  EXPECT_EQ(bits_of(DType::kBFloat16, 1.0 + 0x1p-8), 0x3f80u);
  EXPECT_EQ(bits_of(DType::kBFloat16, 1.0 + 3 * 0x1p-8), 0x3f82u);
}

TEST(Bits, every_float16_survives_a_round_trip) {
  for (uint64_t bits = 0; bits < 0x10000; ++bits) {
    double value = double_of_bits(DType::kFloat16, bits);
    if (std::isnan(value)) continue;
    EXPECT_EQ(bits_of(DType::kFloat16, value), bits);
  }
}

TEST(Bits, integers_wrap_to_their_width) {
  EXPECT_EQ(integer_of_bits(DType::kInt8, bits_of_integer(DType::kInt8, 200)), -56);
  EXPECT_EQ(integer_of_bits(DType::kUInt8, bits_of_integer(DType::kUInt8, -1)), 255);
  EXPECT_EQ(bits_of_integer(DType::kInt1, 3), 1u);
}

}  // namespace
}  // namespace enceladus::ir
