#include "codegen/metal/dialect.h"

#include <cmath>

#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::metal {

using codegen::call;
using ir::AttributeName;
using ir::Opcode;

std::string vector_name(std::string_view type, int64_t elements) {
  return std::string(type) + (elements > 1 ? std::to_string(elements) : "");
}

std::string MetalDialect::pointer_type(DType pointee, bool is_const) const {
  return std::string(is_const ? "device const " : "device ") +
         std::string(memory_type_name(pointee)) + "*";
}

std::string MetalDialect::shuffle_xor(const std::string& value, int64_t mask) const {
  return "simd_shuffle_xor(" + value + ", " + std::to_string(mask) + ")";
}

std::string MetalDialect::shuffle(const std::string& value, const std::string& lane) const {
  return "simd_shuffle(" + value + ", ushort(" + lane + "))";
}

std::string MetalDialect::warp_reduction(ir::CombineKind combine, const std::string& value) const {
  if (combine == ir::CombineKind::kAdd) return "simd_sum(" + value + ")";
  return (combine == ir::CombineKind::kMax ? "simd_max(" : "simd_min(") + value + ")";
}

std::string MetalDialect::literal(DType dtype, uint64_t bits) const {
  if (is_integer(dtype))
    return codegen::integer_literal(type_name(dtype), dtype, ir::integer_of_bits(dtype, bits));
  if (is_float8(dtype)) return call("uchar", std::to_string(bits));
  ENC_CHECK(dtype != DType::kFloat64, "float64 has no text here");
  double value = ir::double_of_bits(dtype, bits);
  if (!std::isfinite(value)) {
    std::string number = std::to_string(bits);
    if (dtype == DType::kFloat32) {
      if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
      return "as_type<float>(" + number + "u)";
    }
    return "as_type<" + std::string(type_name(dtype)) + ">(ushort(" + number + "))";
  }
  return rounded(dtype, codegen::float_literal(value));
}

std::string MetalDialect::program_position(Opcode opcode, int64_t axis) const {
  std::string_view grid = opcode == Opcode::kProgramId ? "program." : "programs.";
  return "int(" + std::string(grid) + "xyz"[axis] + ")";
}

std::string MetalDialect::helper(Helper helper, DType dtype, codegen::Operands operands) {
  std::string name = prelude_.use(helper), first = wide(dtype, operands[0]);
  return rounded(
      dtype, operands.size() > 1 ? call(name, first, wide(dtype, operands[1])) : call(name, first));
}

std::string MetalDialect::extremum(const ir::Operation& op, codegen::Operands operands) {
  DType dtype = op.result()->type().dtype();
  bool is_minimum = op.is(Opcode::kMin);
  if (op.integer_or(AttributeName::kPropagateNan, 0))
    return helper(is_minimum ? Helper::kMinNan : Helper::kMaxNan, dtype, operands);
  return rounded(dtype, call(is_minimum ? "fmin" : "fmax", wide(dtype, operands[0]),
                             wide(dtype, operands[1])));
}

std::string MetalDialect::float_operation(const ir::Operation& op, codegen::Operands operands,
                                          ir::MathMode mode) {
  DType dtype = op.result()->type().dtype();
  auto at = [&](size_t index) { return wide(dtype, operands[index]); };
  // Accurate to a few ulp in every math mode but `fast`; the language's own choice is `fast`.
  auto function = [&](std::string_view name) {
    std::string space = mode == ir::MathMode::kFast ? "fast::" : "precise::";
    return rounded(dtype, call(space + std::string(name), at(0)));
  };
  auto infix = [&](std::string_view symbol) {
    return rounded(dtype, at(0) + " " + std::string(symbol) + " " + at(1));
  };
  switch (op.opcode()) {
    case Opcode::kNeg:
      return "-" + operands[0];
    case Opcode::kAbs:
      return rounded(dtype, call("fabs", at(0)));
    case Opcode::kExp:
    case Opcode::kExp2:
    case Opcode::kLog:
    case Opcode::kLog2:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kCos:
      return function(op.record().name);
    case Opcode::kSqrtRn:
      return helper(Helper::kSqrtRn, dtype, operands);
    case Opcode::kTanh:
      // The fast form is wrong near 0 and NaN from 45 on.
      return rounded(dtype, call("precise::tanh", at(0)));
    case Opcode::kErf:
      return helper(Helper::kErf, dtype, operands);
    case Opcode::kFloor:
    case Opcode::kCeil:
      return rounded(dtype, call(op.record().name, at(0)));
    case Opcode::kAdd:
      return infix("+");
    case Opcode::kSub:
      return infix("-");
    case Opcode::kMul:
      return infix("*");
    case Opcode::kDiv:
      return infix("/");
    case Opcode::kDivRn:
      return helper(Helper::kDivRn, dtype, operands);
    case Opcode::kRem:
      return rounded(dtype, call("fmod", at(0), at(1)));
    case Opcode::kMin:
    case Opcode::kMax:
      return extremum(op, operands);
    case Opcode::kFma:
      return rounded(dtype, "fma(" + at(0) + ", " + at(1) + ", " + at(2) + ")");
    default:
      ENC_CHECK(false, "no float operation: " + std::string(op.record().name));
      return {};
  }
}

std::string MetalDialect::to_narrow_float(DType from, DType to, ir::Rounding rounding,
                                          const std::string& value) {
  std::string type(type_name(to));
  if (is_float(from) && rounding == ir::Rounding::kTowardZero) {
    Helper helper = to == DType::kFloat16 ? Helper::kHalfTowardZero : Helper::kBFloatTowardZero;
    return call(prelude_.use(helper), call("float", value));
  }
  // What float holds exactly, or what overflows half whatever its last bits, rounds once.
  bool through_float = is_float(from) || bit_width(from) <= 16 || to == DType::kFloat16;
  if (through_float) return call(type, from == DType::kFloat32 ? value : call("float", value));
  return call(prelude_.round_to_bfloat(from), value);
}

std::string MetalDialect::float_conversion(DType from, DType to, ir::Rounding rounding,
                                           const std::string& value) {
  if (codegen::is_narrow_float(to)) return to_narrow_float(from, to, rounding, value);
  if (is_float(from) && is_integer(to)) {
    std::string number = from == DType::kFloat32 ? value : call("float", value);
    return call(prelude_.saturate(to), number);
  }
  return call(type_name(to), value);
}

std::string MetalDialect::from_float8(DType from, const std::string& value) {
  return call(prelude_.widen_float8(from), value);
}

// What float rounds, an integer beyond 2^24, is out of range all the same.
std::string MetalDialect::to_float8(DType from, DType to, ir::Rounding rounding,
                                    const std::string& value) {
  return call(prelude_.narrow_float8(to, rounding),
              from == DType::kFloat32 ? value : call("float", value));
}

}  // namespace enceladus::metal
