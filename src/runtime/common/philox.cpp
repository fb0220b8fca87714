#include "runtime/common/philox.h"

#include <bit>
#include <cmath>

#include "support/check.h"
#include "support/floats.h"

namespace enceladus {
namespace {

constexpr double kTwoToMinus32 = 1.0 / 4294967296.0;
constexpr double kTwoToMinus30 = 1.0 / 1073741824.0;
constexpr double kTwoToMinus53 = 1.0 / 9007199254740992.0;
constexpr double kHalfPi = 1.5707963267948966;
constexpr double kLn2 = 0.6931471805599453;
constexpr double kSqrtHalf = 0.7071067811865476;

uint64_t joined(uint32_t high, uint32_t low) { return uint64_t{high} << 32 | low; }

// Reciprocals 1/21, 1/19, ... 1: the series of atanh, highest power first.
constexpr std::array<double, 11> kAtanh = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15,
                                           1.0 / 13, 1.0 / 11, 1.0 / 9,  1.0 / 7,
                                           1.0 / 5,  1.0 / 3,  1.0};

// Taylor coefficients of sin(x) / x and cos(x) in x squared, highest power first.
template <size_t count>
constexpr std::array<double, count> taylor(int first_factor) {
  std::array<double, count> coefficients{};
  double term = 1.0;
  for (size_t i = 0; i < count; ++i) {
    coefficients[count - 1 - i] = term;
    const double n = first_factor + 2.0 * static_cast<double>(i);
    term = -term / (n * (n + 1.0));
  }
  return coefficients;
}
constexpr auto kSine = taylor<9>(2);
constexpr auto kCosine = taylor<10>(1);

template <size_t count>
double polynomial(const std::array<double, count>& coefficients, double x) {
  double sum = 0.0;
  for (double coefficient : coefficients) sum = sum * x + coefficient;
  return sum;
}

// Natural logarithm of a positive normal number: mantissa in [sqrt(1/2), sqrt(2)), then the series
// of 2 atanh((m - 1) / (m + 1)), whose terms fall by 34 each.
double logarithm(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const double mantissa = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) | uint64_t{1022} << 52);
  const bool is_low = mantissa < kSqrtHalf;
  const double centered = is_low ? mantissa * 2.0 : mantissa;
  const double exponent = static_cast<int>(bits >> 52) - (is_low ? 1023 : 1022);
  const double s = (centered - 1.0) / (centered + 1.0);
  return exponent * kLn2 + 2.0 * s * polynomial(kAtanh, s * s);
}

struct Point {
  double x;
  double y;
};

// The point of the unit circle at a uniformly distributed angle: `quadrant` quarter turns plus
// `fraction`, in [0, 1), of the quarter around zero, where Taylor's series need few terms.
Point point_on_circle(uint32_t quadrant, double fraction) {
  const double angle = (fraction - 0.5) * kHalfPi;
  const double square = angle * angle;
  const double sine = angle * polynomial(kSine, square);
  const double cosine = polynomial(kCosine, square);
  switch (quadrant) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

Point normal_pair(double uniform, Point direction) {
  const double radius = std::sqrt(-2.0 * logarithm(uniform));
  return {radius * direction.x, radius * direction.y};
}

// The numbers of one block; four, or two of float64.
using Numbers = std::array<double, 4>;

int uniform_bits(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 11;
    case DType::kBFloat16:
      return 8;
    default:
      return 24;
  }
}

Numbers uniform_numbers(const PhiloxBlock& words, DType dtype) {
  if (dtype == DType::kFloat64)
    return {static_cast<double>(joined(words[0], words[1]) >> 11) * kTwoToMinus53,
            static_cast<double>(joined(words[2], words[3]) >> 11) * kTwoToMinus53};
  const int bits = uniform_bits(dtype);
  Numbers numbers;
  for (size_t i = 0; i < 4; ++i)
    numbers[i] = static_cast<double>(words[i] >> (32 - bits)) / static_cast<double>(1 << bits);
  return numbers;
}

Numbers normal_numbers(const PhiloxBlock& words, DType dtype) {
  if (dtype == DType::kFloat64) {
    const double uniform =
        static_cast<double>((joined(words[0], words[1]) >> 11) + 1) * kTwoToMinus53;
    const uint64_t turn = joined(words[2], words[3]) & 0x3FFFFFFFFFFFFFFF;
    const double fraction = static_cast<double>(turn >> 9) * kTwoToMinus53;
    const Point pair = normal_pair(uniform, point_on_circle(words[2] >> 30, fraction));
    return {pair.x, pair.y};
  }
  Numbers numbers;
  for (size_t i = 0; i < 4; i += 2) {
    const double uniform = (static_cast<double>(words[i]) + 1.0) * kTwoToMinus32;
    const double fraction = static_cast<double>(words[i + 1] & 0x3FFFFFFF) * kTwoToMinus30;
    const Point pair = normal_pair(uniform, point_on_circle(words[i + 1] >> 30, fraction));
    numbers[i] = pair.x;
    numbers[i + 1] = pair.y;
  }
  return numbers;
}

void store(const RandomFill& fill, int64_t index, double value) {
  switch (fill.dtype) {
    case DType::kFloat64:
      static_cast<double*>(fill.data)[index] = value;
      return;
    case DType::kFloat32:
      static_cast<float*>(fill.data)[index] = static_cast<float>(value);
      return;
    default:
      static_cast<uint16_t*>(fill.data)[index] = static_cast<uint16_t>(
          round_to_format(value, fill.dtype == DType::kFloat16 ? kFloat16Format : kBFloat16Format));
  }
}

}  // namespace

PhiloxBlock philox(PhiloxBlock counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * counter[0];
    const uint64_t second = uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
        static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

int64_t elements_per_block(DType dtype) { return dtype == DType::kFloat64 ? 2 : 4; }

void fill_random(const RandomFill& fill, int64_t first, int64_t last) {
  ENC_CHECK(is_float(fill.dtype) && !is_float8(fill.dtype));
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(fill.seed),
                                       static_cast<uint32_t>(fill.seed >> 32)};
  const int64_t step = elements_per_block(fill.dtype);
  for (int64_t index = first; index < last;) {
    const uint64_t block = fill.offset + static_cast<uint64_t>(index / step);
    const PhiloxBlock words =
        philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0}, key);
    const Numbers numbers = fill.distribution == Distribution::kUniform
                                ? uniform_numbers(words, fill.dtype)
                                : normal_numbers(words, fill.dtype);
    for (int64_t i = index % step; i < step && index < last; ++i, ++index)
      store(fill, index, numbers[static_cast<size_t>(i)]);
  }
}

}  // namespace enceladus
