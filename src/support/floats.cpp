#include "support/floats.h"

#include <bit>
#include <cmath>
#include <limits>

namespace enceladus {

uint64_t round_to_format(double value, FloatFormat format, bool toward_zero) {
  const int mantissa_bits = format.mantissa_bits;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const uint64_t largest = format.largest();
  const uint64_t sign =
      std::signbit(value) ? uint64_t{1} << (format.exponent_bits + mantissa_bits) : 0;
  // Behind the largest finite value comes infinity, or the only NaN.
  if (std::isnan(value))
    return sign | (largest + 1) | (format.has_infinity ? uint64_t{1} << (mantissa_bits - 1) : 0);
  const uint64_t overflow = largest + (format.saturates ? 0 : 1);
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | overflow;
  if (magnitude == 0) return sign;
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  // Scaled so that one unit is the last place of the result; exact, as it only moves the exponent.
  double scaled = std::ldexp(magnitude, mantissa_bits - exponent);
  double whole = std::floor(scaled);
  double rest = scaled - whole;
  uint64_t units = static_cast<uint64_t>(whole);
  bool up = rest > 0.5 || (rest == 0.5 && (units & 1));
  if (up && !toward_zero) ++units;
  // `units` holds the hidden bit for a normal number, so that a carry moves into the exponent.
  uint64_t biased = static_cast<uint64_t>(exponent + bias - 1) << mantissa_bits;
  uint64_t bits = biased + units;
  if (bits > largest) bits = toward_zero ? largest : overflow;
  return sign | bits;
}

double value_of_format(uint64_t bits, FloatFormat format) {
  const int mantissa_bits = format.mantissa_bits;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const uint64_t mantissa = bits & ((uint64_t{1} << mantissa_bits) - 1);
  const uint64_t exponent_mask = (uint64_t{1} << format.exponent_bits) - 1;
  const uint64_t exponent = (bits >> mantissa_bits) & exponent_mask;
  const uint64_t sign_mask = uint64_t{1} << (format.exponent_bits + mantissa_bits);
  const bool negative = bits & sign_mask;
  double magnitude;
  const bool is_finite = (bits & ~sign_mask) <= format.largest();
  if (!is_finite && !format.has_infinity) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else if (!is_finite) {
    magnitude = mantissa ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<double>(mantissa), 1 - bias - mantissa_bits);
  } else {
    magnitude = std::ldexp(static_cast<double>(mantissa | (uint64_t{1} << mantissa_bits)),
                           static_cast<int>(exponent) - bias - mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

}  // namespace enceladus
