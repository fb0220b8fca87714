// Conversions between double and the narrow float formats, exact to the bit: one rounding, to
// nearest even or toward zero; overflow gives infinity (toward zero: the largest finite value), or
// in the formats that saturate, for infinities too, the largest finite value; NaN stays NaN
// (quiet). What constant folding and the printer share.
#pragma once

#include <cstdint>

namespace enceladus {

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;  // stored ones
  bool saturates = false;
  // Whether the largest exponent means infinity and NaN; without, only all ones are NaN.
  bool has_infinity = true;

  constexpr uint64_t largest() const {  // finite
    const uint64_t ones = (uint64_t{1} << (exponent_bits + mantissa_bits)) - 1;
    return has_infinity ? ones - (uint64_t{1} << mantissa_bits) : ones - 1;
  }
};
inline constexpr FloatFormat kFloat8E4M3Format{4, 3, true, false};
inline constexpr FloatFormat kFloat8E5M2Format{5, 2, true};
inline constexpr FloatFormat kFloat16Format{5, 10};
inline constexpr FloatFormat kBFloat16Format{8, 7};
inline constexpr FloatFormat kFloat32Format{8, 23};

uint64_t round_to_format(double value, FloatFormat format, bool toward_zero = false);
double value_of_format(uint64_t bits, FloatFormat format);

}  // namespace enceladus
