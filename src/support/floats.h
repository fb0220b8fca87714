// Conversions between double and the narrow float formats, exact to the bit: one rounding, to
// nearest even or toward zero; overflow gives infinity (toward zero: the largest finite value);
// NaN stays NaN (quiet). What constant folding and the printer share.
#pragma once

#include <cstdint>

namespace enceladus {

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;  // stored ones
};
inline constexpr FloatFormat kFloat16Format{5, 10};
inline constexpr FloatFormat kBFloat16Format{8, 7};
inline constexpr FloatFormat kFloat32Format{8, 23};

uint64_t round_to_format(double value, FloatFormat format, bool toward_zero = false);
double value_of_format(uint64_t bits, FloatFormat format);

}  // namespace enceladus
