// Bit patterns of constants (declared in ir/builder.h).
#include <bit>
#include <cmath>

#include "ir/builder.h"
#include "support/floats.h"

namespace enceladus::ir {
namespace {

uint64_t truncate(uint64_t bits, int width) {
  return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

}  // namespace

uint64_t bits_of(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat8E4M3:
      return round_to_format(value, kFloat8E4M3Format);
    case DType::kFloat8E5M2:
      return round_to_format(value, kFloat8E5M2Format);
    case DType::kFloat16:
      return round_to_format(value, kFloat16Format);
    case DType::kBFloat16:
      return round_to_format(value, kBFloat16Format);
    case DType::kFloat32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case DType::kFloat64:
      return std::bit_cast<uint64_t>(value);
    default:
      return bits_of_integer(dtype, static_cast<int64_t>(value));
  }
}

uint64_t bits_of_integer(DType dtype, int64_t value) {
  if (is_float(dtype)) return bits_of(dtype, static_cast<double>(value));
  return truncate(static_cast<uint64_t>(value), bit_width(dtype));
}

double double_of_bits(DType dtype, uint64_t bits) {
  switch (dtype) {
    case DType::kFloat8E4M3:
      return value_of_format(bits, kFloat8E4M3Format);
    case DType::kFloat8E5M2:
      return value_of_format(bits, kFloat8E5M2Format);
    case DType::kFloat16:
      return value_of_format(bits, kFloat16Format);
    case DType::kBFloat16:
      return value_of_format(bits, kBFloat16Format);
    case DType::kFloat32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case DType::kFloat64:
      return std::bit_cast<double>(bits);
    case DType::kUInt64:
      return static_cast<double>(bits);
    default:
      return static_cast<double>(integer_of_bits(dtype, bits));
  }
}

int64_t integer_of_bits(DType dtype, uint64_t bits) {
  int width = bit_width(dtype);
  if (!is_signed(dtype) || width >= 64) return static_cast<int64_t>(bits);
  uint64_t sign = uint64_t{1} << (width - 1);
  return static_cast<int64_t>((bits ^ sign) - sign);
}

}  // namespace enceladus::ir
