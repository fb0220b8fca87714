#include "support/floats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace enceladus {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

int nans(FloatFormat format) {
  int count = 0;
  for (uint64_t bits = 0; bits < 256; ++bits) count += std::isnan(value_of_format(bits, format));
  return count;
}

TEST(Floats, every_finite_float8_comes_back) {
  for (FloatFormat format : {kFloat8E4M3Format, kFloat8E5M2Format})
    for (uint64_t bits = 0; bits < 256; ++bits) {
      double value = value_of_format(bits, format);
      if (!std::isfinite(value)) continue;
      EXPECT_EQ(round_to_format(value, format), bits);
      EXPECT_EQ(round_to_format(value, format, true), bits);
    }
}

TEST(Floats, float8_e4m3_has_two_nans_and_no_infinity) {
  EXPECT_EQ(nans(kFloat8E4M3Format), 2);
  EXPECT_EQ(value_of_format(0x7e, kFloat8E4M3Format), 448);
  EXPECT_EQ(value_of_format(0x01, kFloat8E4M3Format), 0x1p-9);
  EXPECT_TRUE(std::isnan(value_of_format(0xff, kFloat8E4M3Format)));
}

TEST(Floats, float8_e5m2_has_infinities) {
  EXPECT_EQ(nans(kFloat8E5M2Format), 6);
  EXPECT_EQ(value_of_format(0x7b, kFloat8E5M2Format), 57344);
  EXPECT_EQ(value_of_format(0xfc, kFloat8E5M2Format), -kInfinity);
  EXPECT_EQ(value_of_format(0x01, kFloat8E5M2Format), 0x1p-16);
}

TEST(Floats, float8_saturates) {
  for (bool toward_zero : {false, true}) {
    EXPECT_EQ(round_to_format(1e9, kFloat8E4M3Format, toward_zero), 0x7eu);
    EXPECT_EQ(round_to_format(-kInfinity, kFloat8E4M3Format, toward_zero), 0xfeu);
    EXPECT_EQ(round_to_format(-1e9, kFloat8E5M2Format, toward_zero), 0xfbu);
    EXPECT_EQ(round_to_format(kInfinity, kFloat8E5M2Format, toward_zero), 0x7bu);
  }
  EXPECT_EQ(round_to_format(kNan, kFloat8E4M3Format), 0x7fu);
  EXPECT_TRUE(
      std::isnan(value_of_format(round_to_format(kNan, kFloat8E5M2Format), kFloat8E5M2Format)));
}

TEST(Floats, float8_rounds_ties_to_even) {
  EXPECT_EQ(round_to_format(1.0625, kFloat8E4M3Format), 0x38u);   // 1
  EXPECT_EQ(round_to_format(1.1875, kFloat8E4M3Format), 0x3au);   // 1.25
  EXPECT_EQ(round_to_format(0x1p-10, kFloat8E4M3Format), 0x00u);  // half of the least
  EXPECT_EQ(round_to_format(0x3p-10, kFloat8E4M3Format), 0x02u);
  EXPECT_EQ(round_to_format(-0.0, kFloat8E5M2Format), 0x80u);
  EXPECT_EQ(round_to_format(1.9, kFloat8E5M2Format, true), 0x3fu);  // 1.75
}

TEST(Floats, float16_overflows_to_infinity) {
  EXPECT_EQ(round_to_format(65520, kFloat16Format), 0x7c00u);
  EXPECT_EQ(round_to_format(65519, kFloat16Format), 0x7bffu);
  EXPECT_EQ(round_to_format(1e9, kFloat16Format, true), 0x7bffu);
  EXPECT_EQ(round_to_format(-kInfinity, kFloat16Format, true), 0xfc00u);
  EXPECT_EQ(round_to_format(kNan, kBFloat16Format), 0x7fc0u);
}

}  // namespace
}  // namespace enceladus
