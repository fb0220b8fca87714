#include "runtime/common/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace enceladus {
namespace {

// Known answers of Random123 (kat_vectors).
TEST(Philox, gives_the_published_numbers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

template <class T>
std::vector<T> filled(DType dtype, Distribution distribution, int64_t count) {
  std::vector<T> data(static_cast<size_t>(count));
  fill_random({data.data(), dtype, distribution, 1234, 7}, 0, count);
  return data;
}

TEST(FillRandom, any_split_gives_the_same_numbers) {
  for (Distribution distribution : {Distribution::kUniform, Distribution::kNormal}) {
    const auto whole = filled<float>(DType::kFloat32, distribution, 103);
    std::vector<float> parts(103);
    const RandomFill fill{parts.data(), DType::kFloat32, distribution, 1234, 7};
    for (int64_t first = 0; first < 103; first += 5)
      fill_random(fill, first, std::min<int64_t>(103, first + 5));
    EXPECT_EQ(whole, parts);
  }
}

// The transform against the C library's functions: within rounding of double.
TEST(FillRandom, normal_numbers_lie_on_the_circle_that_box_muller_says) {
  const auto numbers = filled<double>(DType::kFloat64, Distribution::kNormal, 2000);
  for (size_t i = 0; i < numbers.size(); i += 2) {
    const PhiloxBlock words = philox({static_cast<uint32_t>(7 + i / 2), 0, 0, 0}, {1234, 0});
    const uint64_t bits = (uint64_t{words[0]} << 32 | words[1]) >> 11;
    const double expected =
        std::sqrt(-2 * std::log(std::ldexp(static_cast<double>(bits + 1), -53)));
    EXPECT_NEAR(std::hypot(numbers[i], numbers[i + 1]), expected, 1e-14 * expected);
  }
}

// With 200,000 samples the standard errors are 0.0022 (mean) and 0.0032 (variance): 5 of each.
TEST(FillRandom, moments_are_those_of_the_distribution) {
  const int64_t count = 200000;
  for (Distribution distribution : {Distribution::kUniform, Distribution::kNormal}) {
    const auto numbers = filled<float>(DType::kFloat32, distribution, count);
    double sum = 0, squares = 0;
    for (float number : numbers) {
      sum += number;
      squares += double{number} * number;
    }
    const double mean = sum / count;
    const bool normal = distribution == Distribution::kNormal;
    EXPECT_NEAR(mean, normal ? 0.0 : 0.5, 0.011);
    EXPECT_NEAR(squares / count - mean * mean, normal ? 1.0 : 1.0 / 12, 0.016);
  }
}

// Part of the contract: these bits must never change. The normal ones were computed from the
// published Philox numbers with Python's math.log, sqrt, cos and sin.
TEST(FillRandom, bits_are_pinned) {
  const auto normal = filled<float>(DType::kFloat32, Distribution::kNormal, 4);
  const auto uniform = filled<float>(DType::kFloat32, Distribution::kUniform, 4);
  const PhiloxBlock words = philox({7, 0, 0, 0}, {1234, 0});
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(uniform[i], std::ldexp(static_cast<float>(words[i] >> 8), -24));
  EXPECT_EQ(normal,
            (std::vector<float>{-0x1.31d09cp-2f, 0x1.9505d6p-1f, -0x1.b55622p-1f, 0x1.3f1a8ep-1f}));
}

}  // namespace
}  // namespace enceladus
