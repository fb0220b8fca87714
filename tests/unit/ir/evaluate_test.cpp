#include "ir/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/builder.h"

namespace enceladus::ir {
namespace {

std::optional<uint64_t> binary(Opcode opcode, DType dtype, uint64_t a, uint64_t b) {
  bool comparison = info(opcode).result == "bool_like";
  uint64_t operands[] = {a, b};
  return evaluate({.opcode = opcode, .operand = dtype, .result = comparison ? DType::kInt1 : dtype},
                  operands);
}

int64_t integer(Opcode opcode, DType dtype, int64_t a, int64_t b) {
  return integer_of_bits(
      dtype, *binary(opcode, dtype, bits_of_integer(dtype, a), bits_of_integer(dtype, b)));
}

std::optional<uint64_t> convert(DType from, DType to, uint64_t bits,
                                Rounding rounding = Rounding::kNearestEven) {
  return evaluate({.opcode = Opcode::kCast, .operand = from, .result = to, .rounding = rounding},
                  std::span(&bits, 1));
}

TEST(Evaluate, int8_arithmetic_equals_wide_arithmetic_cut_to_the_width) {
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      auto cut = [](int value) { return static_cast<int64_t>(static_cast<int8_t>(value)); };
      ASSERT_EQ(integer(Opcode::kAdd, DType::kInt8, a, b), cut(a + b));
      ASSERT_EQ(integer(Opcode::kSub, DType::kInt8, a, b), cut(a - b));
      ASSERT_EQ(integer(Opcode::kMul, DType::kInt8, a, b), cut(a * b));
      ASSERT_EQ(integer(Opcode::kDiv, DType::kInt8, a, b), b ? cut(a / b) : 0);
      ASSERT_EQ(integer(Opcode::kRem, DType::kInt8, a, b), b ? cut(a % b) : a);
      ASSERT_EQ(integer(Opcode::kShl, DType::kInt8, a, b), cut(a << (b & 7)));
      ASSERT_EQ(integer(Opcode::kShr, DType::kInt8, a, b), a >> (b & 7));
      ASSERT_EQ(integer(Opcode::kMin, DType::kInt8, a, b), std::min(a, b));
      ASSERT_EQ(
          *binary(Opcode::kLt, DType::kInt8, static_cast<uint8_t>(a), static_cast<uint8_t>(b)),
          a < b ? 1u : 0u);
    }
  }
}

TEST(Evaluate, division_of_the_smallest_by_minus_one_wraps) {
  int64_t smallest = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(integer(Opcode::kDiv, DType::kInt64, smallest, -1), smallest);
  EXPECT_EQ(integer(Opcode::kRem, DType::kInt64, smallest, -1), 0);
  EXPECT_EQ(integer(Opcode::kDiv, DType::kInt32, INT32_MIN, -1), INT32_MIN);
}

TEST(Evaluate, float8_is_converted_and_nothing_else) {
  for (DType dtype : {DType::kFloat8E4M3, DType::kFloat8E5M2}) {
    for (DType wide : {DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
      for (uint64_t bits = 0; bits < 256; ++bits) {
        double value = double_of_bits(dtype, bits);
        if (!std::isfinite(value)) continue;
        ASSERT_EQ(convert(dtype, wide, bits), bits_of(wide, value));
        ASSERT_EQ(convert(wide, dtype, bits_of(wide, value)), bits);
      }
    }
    EXPECT_EQ(convert(dtype, DType::kInt1, 0x80), 0u);
    EXPECT_EQ(binary(Opcode::kAdd, dtype, 1, 1), std::nullopt);
  }
  EXPECT_EQ(convert(DType::kFloat32, DType::kFloat8E4M3, bits_of(DType::kFloat32, 1e6)), 0x7eu);
}

TEST(Evaluate, umulhi_is_the_upper_half) {
  EXPECT_EQ(binary(Opcode::kUMulHi, DType::kUInt32, 0xffffffff, 0xffffffff), 0xfffffffeu);
  EXPECT_EQ(binary(Opcode::kUMulHi, DType::kUInt64, ~uint64_t{0}, 16), uint64_t{15});
}

TEST(Evaluate, float16_rounds_each_result_once_from_float32) {
  uint64_t one = bits_of(DType::kFloat16, 1.0);
  uint64_t tiny = bits_of(DType::kFloat16, 0x1p-11);
  EXPECT_EQ(binary(Opcode::kAdd, DType::kFloat16, one, tiny), one);  // a tie to even
  EXPECT_EQ(binary(Opcode::kMul, DType::kFloat16, bits_of(DType::kFloat16, 300.0),
                   bits_of(DType::kFloat16, 300.0)),
            bits_of(DType::kFloat16, std::numeric_limits<double>::infinity()));
}

TEST(Evaluate, nothing_that_targets_may_compute_differently_is_folded) {
  uint64_t one = bits_of(DType::kFloat32, 1.0);
  uint64_t zero = bits_of(DType::kFloat32, 0.0);
  EXPECT_EQ(binary(Opcode::kDiv, DType::kFloat32, one, one), std::nullopt);
  EXPECT_EQ(binary(Opcode::kDivRn, DType::kFloat32, zero, zero), std::nullopt);  // NaN bits
  EXPECT_EQ(binary(Opcode::kMin, DType::kFloat32, zero, bits_of(DType::kFloat32, -0.0)),
            std::nullopt);
  for (Opcode opcode : {Opcode::kExp, Opcode::kLog, Opcode::kSqrt, Opcode::kSin, Opcode::kTanh})
    EXPECT_EQ(evaluate({.opcode = opcode, .operand = DType::kFloat32, .result = DType::kFloat32},
                       std::span(&one, 1)),
              std::nullopt);
}

TEST(Evaluate, minimum_ignores_nan_unless_it_propagates) {
  uint64_t nan = 0x7fc00000;
  uint64_t one = bits_of(DType::kFloat32, 1.0);
  EXPECT_EQ(binary(Opcode::kMin, DType::kFloat32, nan, one), one);
  EXPECT_EQ(binary(Opcode::kMax, DType::kFloat32, one, nan), one);
  uint64_t operands[] = {nan, one};
  EXPECT_EQ(evaluate({.opcode = Opcode::kMin,
                      .operand = DType::kFloat32,
                      .result = DType::kFloat32,
                      .propagate_nan = true},
                     operands),
            std::nullopt);
}

TEST(Evaluate, floats_convert_to_integers_by_truncation_and_saturation) {
  auto to = [](DType dtype, double value) {
    return integer_of_bits(dtype,
                           *convert(DType::kFloat64, dtype, bits_of(DType::kFloat64, value)));
  };
  EXPECT_EQ(to(DType::kInt8, -1.9), -1);
  EXPECT_EQ(to(DType::kInt8, 300), 127);
  EXPECT_EQ(to(DType::kInt8, -300), -128);
  EXPECT_EQ(to(DType::kUInt8, -5), 0);
  EXPECT_EQ(to(DType::kUInt8, 256), 255);
  EXPECT_EQ(to(DType::kInt64, 1e30), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(to(DType::kInt64, -0x1p63), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(convert(DType::kFloat64, DType::kUInt64, bits_of(DType::kFloat64, 1e30)), ~uint64_t{0});
  EXPECT_EQ(to(DType::kInt32, std::nan("")), 0);
  EXPECT_EQ(to(DType::kInt1, 0.5), 1);
  EXPECT_EQ(to(DType::kInt1, -0.0), 0);
  EXPECT_EQ(to(DType::kInt1, std::nan("")), 1);
}

TEST(Evaluate, conversions_to_narrow_floats_round_once) {
  // Rounding through double first would give a tie, and then the even neighbour below.
  uint64_t above_a_tie = (uint64_t{1} << 62) + (uint64_t{1} << 54) + 1;
  EXPECT_EQ(convert(DType::kInt64, DType::kBFloat16, above_a_tie),
            bits_of(DType::kBFloat16, 0x1p62 * (1 + 0x1p-7)));
  EXPECT_EQ(convert(DType::kInt64, DType::kFloat32, (uint64_t{1} << 62) + (uint64_t{1} << 38) + 1),
            bits_of(DType::kFloat32, 0x1p62 * (1 + 0x1p-23)));
  double value = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(convert(DType::kFloat64, DType::kFloat16, bits_of(DType::kFloat64, value)),
            bits_of(DType::kFloat16, 1.0 + 0x1p-10));
  EXPECT_EQ(convert(DType::kFloat64, DType::kFloat16, bits_of(DType::kFloat64, value),
                    Rounding::kTowardZero),
            bits_of(DType::kFloat16, 1.0));
}

}  // namespace
}  // namespace enceladus::ir
