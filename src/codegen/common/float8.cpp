#include "codegen/common/float8.h"

#include <cstdio>

#include "support/floats.h"

namespace enceladus::codegen {
namespace {

constexpr int kFloatMantissaBits = 23, kFloatBias = 127;

FloatFormat format_of(DType dtype) {
  return dtype == DType::kFloat8E4M3 ? kFloat8E4M3Format : kFloat8E5M2Format;
}

int bias_of(FloatFormat format) { return (1 << (format.exponent_bits - 1)) - 1; }

std::string number(int64_t value) { return std::to_string(value) + "u"; }

std::string hexadecimal(uint32_t bits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08xu", bits);
  return text;
}

// Bits of a float that is a power of two.
uint32_t power_bits(int exponent) {
  return static_cast<uint32_t>(exponent + kFloatBias) << kFloatMantissaBits;
}

}  // namespace

std::string float8_name(DType dtype) { return std::string(info(dtype).text_name); }

std::string widen_float8_name(DType from) { return "enc_from_" + float8_name(from); }

std::string narrow_float8_name(DType to, ir::Rounding rounding) {
  return "enc_to_" + float8_name(to) + (rounding == ir::Rounding::kTowardZero ? "_rtz" : "");
}

std::string widen_float8_body(DType from) {
  const FloatFormat format = format_of(from);
  const int bias = bias_of(format), shift = kFloatMantissaBits - format.mantissa_bits;
  const std::string shifted = "(m << " + number(shift) + ")";
  // A unit of the denormal numbers.
  const std::string unit =
      "as_type<float>(" + hexadecimal(power_bits(1 - bias - format.mantissa_bits)) + ")";
  std::string beyond = hexadecimal(0x7fc00000);
  if (format.has_infinity) beyond = shifted + " | 0x7f800000u";
  return "  uint m = a & 127u;\n  uint f = m < " + number(1 << format.mantissa_bits) +
         " ? as_type<uint>(float(m) * " + unit + ") : " + shifted + " + " +
         hexadecimal(static_cast<uint32_t>(kFloatBias - bias) << kFloatMantissaBits) +
         ";\n  if (m > " + number(static_cast<int64_t>(format.largest())) + ") f = " + beyond +
         ";\n  return as_type<float>(f | (a & 128u) << 24u);\n";
}

std::string narrow_float8_body(DType to, ir::Rounding rounding) {
  const FloatFormat format = format_of(to);
  const int bias = bias_of(format), shift = kFloatMantissaBits - format.mantissa_bits;
  const bool cuts = rounding == ir::Rounding::kTowardZero;
  const std::string moved =
      cuts ? "m"
           : "m + " + hexadecimal((1u << (shift - 1)) - 1) + " + (m >> " + number(shift) + " & 1u)";
  // A sum whose last place is a unit of the denormal numbers rounds to it.
  const uint32_t base = power_bits(1 - bias + shift);
  const std::string small = cuts ? "uint(as_type<float>(m) * as_type<float>(" +
                                       hexadecimal(power_bits(bias - 1 + format.mantissa_bits)) +
                                       "))"
                                 : "as_type<uint>(as_type<float>(m) + as_type<float>(" +
                                       hexadecimal(base) + ")) - " + hexadecimal(base);
  const std::string largest = number(static_cast<int64_t>(format.largest()));
  return "  uint u = as_type<uint>(a), m = u & 0x7fffffffu;\n  uint r = ((" + moved + ") >> " +
         number(shift) + ") - " + number((kFloatBias - bias) << format.mantissa_bits) +
         ";\n  r = m < " + hexadecimal(power_bits(1 - bias)) + " ? " + small + " : min(r, " +
         largest + ");\n  if (m > 0x7f800000u) r = 127u;\n" +
         "  return uchar(r | (u >> 24u & 128u));\n";
}

std::string widen_float8_text(DType from) {
  return widen_float8_name(from) + "(uchar a) {\n" + widen_float8_body(from) + "}\n";
}

std::string narrow_float8_text(DType to, ir::Rounding rounding) {
  return narrow_float8_name(to, rounding) + "(float a) {\n" + narrow_float8_body(to, rounding) +
         "}\n";
}

}  // namespace enceladus::codegen
