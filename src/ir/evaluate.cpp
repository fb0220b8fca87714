#include "ir/evaluate.h"

#include <cmath>
#include <limits>

#include "ir/builder.h"
#include "support/check.h"
#include "support/floats.h"

namespace enceladus::ir {
namespace {

using Bits = std::optional<uint64_t>;

uint64_t truncated(uint64_t bits, DType dtype) {
  int width = bit_width(dtype);
  return width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

// --- integers ---

uint64_t sign_extended(uint64_t bits, DType dtype) {
  return static_cast<uint64_t>(integer_of_bits(dtype, bits));
}

uint64_t divided(uint64_t a, uint64_t b, DType dtype, bool remainder) {
  if (b == 0) return remainder ? a : 0;
  if (!is_signed(dtype)) return remainder ? a % b : a / b;
  int64_t dividend = integer_of_bits(dtype, a);
  int64_t divisor = integer_of_bits(dtype, b);
  if (divisor == -1) return remainder ? 0 : 0 - static_cast<uint64_t>(dividend);
  return static_cast<uint64_t>(remainder ? dividend % divisor : dividend / divisor);
}

uint64_t shifted_right(uint64_t a, uint64_t amount, DType dtype) {
  if (!is_signed(dtype)) return a >> amount;
  return static_cast<uint64_t>(integer_of_bits(dtype, a) >> amount);
}

uint64_t upper_half(uint64_t a, uint64_t b, DType dtype) {
  unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product >> bit_width(dtype));
}

bool less(uint64_t a, uint64_t b, DType dtype) {
  if (!is_signed(dtype)) return a < b;
  return integer_of_bits(dtype, a) < integer_of_bits(dtype, b);
}

Bits integer_unary(Opcode opcode, uint64_t a, DType dtype) {
  switch (opcode) {
    case Opcode::kNeg:
      return 0 - a;
    case Opcode::kNot:
      return ~a;
    case Opcode::kAbs:
      return is_signed(dtype) && integer_of_bits(dtype, a) < 0 ? 0 - a : a;
    default:
      return std::nullopt;
  }
}

Bits integer_binary(Opcode opcode, uint64_t a, uint64_t b, DType dtype) {
  uint64_t amount = b % static_cast<uint64_t>(bit_width(dtype));
  switch (opcode) {
    case Opcode::kAdd:
      return a + b;
    case Opcode::kSub:
      return a - b;
    case Opcode::kMul:
      return a * b;
    case Opcode::kDiv:
      return divided(a, b, dtype, false);
    case Opcode::kRem:
      return divided(a, b, dtype, true);
    case Opcode::kMin:
      return less(b, a, dtype) ? b : a;
    case Opcode::kMax:
      return less(a, b, dtype) ? b : a;
    case Opcode::kAnd:
      return a & b;
    case Opcode::kOr:
      return a | b;
    case Opcode::kXor:
      return a ^ b;
    case Opcode::kShl:
      return a << amount;
    case Opcode::kShr:
      return shifted_right(a, amount, dtype);
    case Opcode::kUMulHi:
      return upper_half(a, b, dtype);
    default:
      return std::nullopt;
  }
}

Bits integer_comparison(Opcode opcode, uint64_t a, uint64_t b, DType dtype) {
  switch (opcode) {
    case Opcode::kEq:
      return a == b;
    case Opcode::kNe:
      return a != b;
    case Opcode::kLt:
      return less(a, b, dtype);
    case Opcode::kLe:
      return !less(b, a, dtype);
    case Opcode::kGt:
      return less(b, a, dtype);
    case Opcode::kGe:
      return !less(a, b, dtype);
    default:
      return std::nullopt;
  }
}

// --- floats ---

uint64_t sign_bit(DType dtype) { return uint64_t{1} << (bit_width(dtype) - 1); }

// The narrow formats compute in float32 and round each result.
template <typename Number>
std::optional<double> float_binary(Opcode opcode, Number a, Number b, bool propagate_nan) {
  switch (opcode) {
    case Opcode::kAdd:
      return a + b;
    case Opcode::kSub:
      return a - b;
    case Opcode::kMul:
      return a * b;
    case Opcode::kDivRn:
      return a / b;
    case Opcode::kRem:
      return std::fmod(a, b);
    case Opcode::kMin:
    case Opcode::kMax:
      if (std::isnan(a) || std::isnan(b)) {
        if (propagate_nan) return std::nullopt;
        return std::isnan(a) ? b : a;
      }
      if (a == b && std::signbit(a) != std::signbit(b)) return std::nullopt;
      return (opcode == Opcode::kMin) == (b < a) ? b : a;
    default:
      return std::nullopt;
  }
}

template <typename Number>
std::optional<double> float_unary(Opcode opcode, Number a) {
  switch (opcode) {
    case Opcode::kSqrtRn:
      return std::sqrt(a);
    case Opcode::kFloor:
      return std::floor(a);
    case Opcode::kCeil:
      return std::ceil(a);
    default:
      return std::nullopt;
  }
}

Bits float_comparison(Opcode opcode, double a, double b) {
  switch (opcode) {
    case Opcode::kEq:
      return a == b;
    case Opcode::kNe:
      return a != b;
    case Opcode::kLt:
      return a < b;
    case Opcode::kLe:
      return a <= b;
    case Opcode::kGt:
      return a > b;
    case Opcode::kGe:
      return a >= b;
    default:
      return std::nullopt;
  }
}

Bits float_operation(const ScalarOperation& op, std::span<const uint64_t> operands) {
  if (op.opcode == Opcode::kNeg) return operands[0] ^ sign_bit(op.operand);
  if (op.opcode == Opcode::kAbs) return operands[0] & ~sign_bit(op.operand);
  bool wide = op.operand == DType::kFloat64;
  double a = double_of_bits(op.operand, operands[0]);
  double b = operands.size() > 1 ? double_of_bits(op.operand, operands[1]) : 0;
  if (is_bool(op.result)) return float_comparison(op.opcode, a, b);
  std::optional<double> value;
  if (operands.size() == 1) {
    value = wide ? float_unary(op.opcode, a) : float_unary(op.opcode, static_cast<float>(a));
  } else if (operands.size() == 2) {
    value = wide ? float_binary(op.opcode, a, b, op.propagate_nan)
                 : float_binary(op.opcode, static_cast<float>(a), static_cast<float>(b),
                                op.propagate_nan);
  } else if (op.opcode == Opcode::kFma && bit_width(op.operand) >= 32) {
    double c = double_of_bits(op.operand, operands[2]);
    value = wide ? std::fma(a, b, c)
                 : std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
  }
  if (!value || std::isnan(*value)) return std::nullopt;
  return bits_of(op.result, *value);
}

// --- conversions ---

uint64_t float_to_integer(double value, DType to) {
  if (is_bool(to)) return value != 0;  // also for NaN
  if (std::isnan(value)) return 0;
  int width = bit_width(to);
  double limit = std::ldexp(1.0, is_signed(to) ? width - 1 : width);  // the first above the range
  double whole = std::trunc(value);
  if (whole >= limit)
    return truncated(~uint64_t{0} >> (is_signed(to) ? 65 - width : 64 - width), to);
  if (is_signed(to) && whole < -limit) return uint64_t{1} << (width - 1);
  if (!is_signed(to)) return whole <= 0 ? 0 : static_cast<uint64_t>(whole);
  return bits_of_integer(to, static_cast<int64_t>(whole));
}

uint64_t rounded(double value, DType to, Rounding rounding) {
  bool toward_zero = rounding == Rounding::kTowardZero;
  if (to == DType::kFloat8E4M3) return round_to_format(value, kFloat8E4M3Format, toward_zero);
  if (to == DType::kFloat8E5M2) return round_to_format(value, kFloat8E5M2Format, toward_zero);
  if (to == DType::kFloat16) return round_to_format(value, kFloat16Format, toward_zero);
  if (to == DType::kBFloat16) return round_to_format(value, kBFloat16Format, toward_zero);
  if (to == DType::kFloat32 && toward_zero) return round_to_format(value, kFloat32Format, true);
  return bits_of(to, value);
}

uint64_t integer_to_float(uint64_t bits, DType from, DType to, Rounding rounding) {
  bool negative = is_signed(from) && integer_of_bits(from, bits) < 0;
  uint64_t magnitude = negative ? 0 - sign_extended(bits, from) : bits;
  if (to == DType::kFloat64) {
    double value = static_cast<double>(magnitude);
    return bits_of(to, negative ? -value : value);
  }
  // Bits that a double cannot hold are gathered in its last place, which rounds the same.
  if (magnitude >> 53)
    magnitude = (magnitude & ~uint64_t{0x7ff}) | ((magnitude & 0x7ff) ? 0x800 : 0);
  double value = static_cast<double>(magnitude);
  return rounded(negative ? -value : value, to, rounding);
}

Bits converted(const ScalarOperation& op, uint64_t bits) {
  if (is_float(op.operand)) {
    double value = double_of_bits(op.operand, bits);
    if (!is_float(op.result)) return float_to_integer(value, op.result);
    if (std::isnan(value)) return std::nullopt;
    return rounded(value, op.result, op.rounding);
  }
  if (is_float(op.result)) return integer_to_float(bits, op.operand, op.result, op.rounding);
  if (is_bool(op.result)) return bits != 0;
  return truncated(sign_extended(bits, op.operand), op.result);
}

}  // namespace

ScalarOperation scalar_operation(const Operation& op) {
  ENC_CHECK(op.record().op_class == OpClass::kElementwise);
  return {.opcode = op.opcode(),
          .operand = op.operand(0)->type().dtype(),
          .result = op.result()->type().dtype(),
          .rounding = static_cast<Rounding>(op.integer_or(AttributeName::kRounding, 0)),
          .propagate_nan = op.integer_or(AttributeName::kPropagateNan, 0) != 0};
}

std::optional<uint64_t> evaluate(const ScalarOperation& op, std::span<const uint64_t> operands) {
  switch (op.opcode) {
    case Opcode::kSelect:
      return operands[2] ? operands[0] : operands[1];
    case Opcode::kCast:
      return converted(op, operands[0]);
    case Opcode::kBitcast:
    case Opcode::kHint:
      return operands[0];
    default:
      break;
  }
  if (is_float8(op.operand)) return std::nullopt;
  if (is_float(op.operand)) return float_operation(op, operands);
  Bits result;
  if (operands.size() == 1) {
    result = integer_unary(op.opcode, operands[0], op.operand);
  } else if (info(op.opcode).result == "bool_like") {
    result = integer_comparison(op.opcode, operands[0], operands[1], op.operand);
  } else if (operands.size() == 2) {
    result = integer_binary(op.opcode, operands[0], operands[1], op.operand);
  }
  return result ? std::optional(truncated(*result, op.result)) : std::nullopt;
}

}  // namespace enceladus::ir
