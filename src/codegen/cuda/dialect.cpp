#include "codegen/cuda/dialect.h"

#include <cmath>
#include <cstdio>

#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::cuda {

using codegen::call;
using ir::AttributeName;
using ir::MathMode;
using ir::Opcode;

namespace {

std::string hexadecimal(uint64_t bits) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  return text;
}

std::string double_literal(double value) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.17g", value);
  std::string text = digits;
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return std::signbit(value) ? "(" + text + ")" : text;
}

// A function of one float: its names for float32 as the math mode has it, and for float64.
struct Function {
  Opcode opcode;
  std::string_view precise, relaxed, fast, wide;
};

// The relaxed ones are within 3 ulp, the library's 2 by the vendor's tables; a dollar sign marks
// the prelude's.
constexpr Function kFunctions[] = {
    {Opcode::kExp, "expf", "$exp", "$short_exp", "exp"},
    {Opcode::kExp2, "exp2f", "$exp2", "$exp2", "exp2"},
    {Opcode::kLog, "logf", "logf", "__logf", "log"},
    {Opcode::kLog2, "log2f", "log2f", "__log2f", "log2"},
    {Opcode::kSqrt, "__fsqrt_rn", "$sqrt", "$sqrt", "sqrt"},
    {Opcode::kSqrtRn, "__fsqrt_rn", "__fsqrt_rn", "__fsqrt_rn", "sqrt"},
    {Opcode::kRsqrt, "rsqrtf", "rsqrtf", "rsqrtf", "rsqrt"},
    {Opcode::kSin, "sinf", "sinf", "__sinf", "sin"},
    {Opcode::kCos, "cosf", "cosf", "__cosf", "cos"},
    {Opcode::kTanh, "tanhf", "tanhf", "$tanh", "tanh"},
    {Opcode::kErf, "erff", "erff", "erff", "erf"},
    {Opcode::kFloor, "floorf", "floorf", "floorf", "floor"},
    {Opcode::kCeil, "ceilf", "ceilf", "ceilf", "ceil"},
    {Opcode::kAbs, "fabsf", "fabsf", "fabsf", "fabs"},
};

const Function* function_of(Opcode opcode) {
  for (const Function& function : kFunctions)
    if (function.opcode == opcode) return &function;
  return nullptr;
}

std::optional<double> constant_number(const ir::Value* value) {
  while (value->definition() && value->definition()->is(Opcode::kSplat))
    value = value->definition()->operand(0);
  std::optional<uint64_t> bits = ir::constant_bits(value);
  if (!bits) return std::nullopt;
  return ir::double_of_bits(value->type().dtype(), *bits);
}

bool is_power_of_two(const ir::Value* value) {
  std::optional<double> number = constant_number(value);
  int exponent;
  return number && std::isfinite(*number) && std::fabs(std::frexp(*number, &exponent)) == 0.5;
}

bool is_never_negative(const ir::Value* value) {
  const ir::Operation* op = value->definition();
  if (!op) return false;
  return op->is(Opcode::kExp) || op->is(Opcode::kExp2) || op->is(Opcode::kAbs) ||
         op->is(Opcode::kSqrt) || (op->is(Opcode::kMul) && op->operand(0) == op->operand(1));
}

// Whether a float is a normal number or greater: a constant plus what is never negative, as the
// divisor of a sigmoid is.
bool is_never_small(const ir::Value* value) {
  const ir::Operation* op = value->definition();
  if (!op || !op->is(Opcode::kAdd)) return false;
  for (int i = 0; i < 2; ++i)
    if (constant_number(op->operand(i)).value_or(0) >= 1e-3 &&
        is_never_negative(op->operand(1 - i)))
      return true;
  return false;
}

}  // namespace

std::string CudaDialect::pointer_type(DType pointee, bool is_const) const {
  return std::string(is_const ? "const " : "") + std::string(memory_type_name(pointee)) + "*";
}

std::string CudaDialect::literal(DType dtype, uint64_t bits) const {
  if (is_integer(dtype))
    return codegen::integer_literal(type_name(dtype), dtype, ir::integer_of_bits(dtype, bits));
  if (is_float8(dtype)) return call("uchar", hexadecimal(bits));
  double value = ir::double_of_bits(dtype, bits);
  if (codegen::is_narrow_float(dtype))
    return "as_type<" + std::string(type_name(dtype)) + ">(ushort(" + hexadecimal(bits) + "))";
  bool is_double = dtype == DType::kFloat64;
  if (std::isfinite(value))
    return is_double ? double_literal(value) : codegen::float_literal(value);
  return (is_double ? "__longlong_as_double(" : "__int_as_float(") + hexadecimal(bits) + ")";
}

std::string CudaDialect::program_position(Opcode opcode, int64_t axis) const {
  if (walks_grid_) return "int(grid_" + std::string(1, "xyz"[axis]) + ")";
  std::string_view grid = opcode == Opcode::kProgramId ? "blockIdx." : "gridDim.";
  return "int(" + std::string(grid) + "xyz"[axis] + ")";
}

std::string CudaDialect::high_product(DType dtype) {
  return bit_width(dtype) == 64 ? "__umul64hi" : "__umulhi";
}

std::string CudaDialect::shuffle_xor(const std::string& value, int64_t mask) const {
  return "__shfl_xor_sync(~0u, " + value + ", " + std::to_string(mask) + ")";
}

std::string CudaDialect::shuffle(const std::string& value, const std::string& lane) const {
  return "__shfl_sync(~0u, " + value + ", " + lane + ")";
}

std::string CudaDialect::warp_reduction(ir::CombineKind combine, const std::string& value) const {
  std::string_view name = combine == ir::CombineKind::kAdd   ? "add"
                          : combine == ir::CombineKind::kMax ? "max"
                                                             : "min";
  return "__reduce_" + std::string(name) + "_sync(~0u, " + value + ")";
}

std::string CudaDialect::float_operation(const ir::Operation& op, codegen::Operands operands,
                                         MathMode mode) {
  DType dtype = op.result()->type().dtype();
  bool is_double = dtype == DType::kFloat64;
  auto at = [&](size_t index) { return wide(dtype, operands[index]); };
  // Sums and products that are not to be contracted are functions.
  auto infix = [&](std::string_view symbol, std::string_view exact) {
    std::string prefix = is_double ? "__d" : "__f";
    if (mode == MathMode::kPrecise)
      return rounded(dtype, call(prefix + std::string(exact) + "_rn", at(0), at(1)));
    return rounded(dtype, at(0) + " " + std::string(symbol) + " " + at(1));
  };
  if (const Function* function = function_of(op.opcode())) {
    // The short forms have no denormal numbers, of which bfloat16 has as many as float32.
    bool is_power = op.is(Opcode::kExp) || op.is(Opcode::kExp2);
    bool needs_denormals = is_power && dtype == DType::kBFloat16;
    if (needs_denormals) mode = MathMode::kPrecise;
    std::string_view name = is_double                    ? function->wide
                            : mode == MathMode::kFast    ? function->fast
                            : mode == MathMode::kPrecise ? function->precise
                                                         : function->relaxed;
    std::string text = name[0] == '$' ? prelude_.use(name.substr(1)) : std::string(name);
    return rounded(dtype, call(text, at(0)));
  }
  switch (op.opcode()) {
    case Opcode::kNeg:
      return rounded(dtype, "-" + at(0));
    case Opcode::kAdd:
      return infix("+", "add");
    case Opcode::kSub:
      return infix("-", "sub");
    case Opcode::kMul:
      return infix("*", "mul");
    case Opcode::kDiv:
      if (is_double || is_power_of_two(op.operand(1))) return rounded(dtype, at(0) + " / " + at(1));
      if (mode == MathMode::kPrecise) return rounded(dtype, call("__fdiv_rn", at(0), at(1)));
      // The short form has no denormal numbers, of which bfloat16 has as many as float32.
      if (dtype != DType::kBFloat16 && constant_number(op.operand(0)) == 1.0 &&
          is_never_small(op.operand(1)))
        return rounded(dtype, call(prelude_.use("reciprocal"), at(1)));
      return rounded(dtype, call(prelude_.use("divide_full"), at(0), at(1)));
    case Opcode::kDivRn:
      return rounded(dtype, call(is_double ? "__ddiv_rn" : "__fdiv_rn", at(0), at(1)));
    case Opcode::kRem:
      return rounded(dtype, call(is_double ? "fmod" : "fmodf", at(0), at(1)));
    case Opcode::kMin:
    case Opcode::kMax: {
      std::string name = op.is(Opcode::kMin) ? "min" : "max";
      if (op.integer_or(AttributeName::kPropagateNan, 0))
        return rounded(dtype, call(prelude_.use(name + "_nan"), at(0), at(1)));
      return rounded(dtype, call("f" + name + (is_double ? "" : "f"), at(0), at(1)));
    }
    case Opcode::kFma:
      return rounded(dtype, std::string(is_double ? "fma(" : "fmaf(") + at(0) + ", " + at(1) +
                                ", " + at(2) + ")");
    default:
      ENC_CHECK(false, "no float operation: " + std::string(op.record().name));
      return {};
  }
}

std::string CudaDialect::to_narrow_float(DType from, DType to, ir::Rounding rounding,
                                         const std::string& value) {
  bool is_half = to == DType::kFloat16;
  if (is_float(from) && rounding == ir::Rounding::kTowardZero) {
    std::string number =
        from == DType::kFloat64 ? call("__double2float_rz", value) : wide(from, value);
    return call(prelude_.use(is_half ? "half_toward_zero" : "bfloat_toward_zero"), number);
  }
  // What float holds exactly, or what overflows half whatever its last bits, rounds once.
  bool through_float =
      from != DType::kFloat64 && (is_float(from) || bit_width(from) <= 16 || is_half);
  if (through_float) return rounded(to, from == DType::kFloat32 ? value : call("float", value));
  return rounded(to, call(prelude_.round_to_odd(from), value));
}

std::string CudaDialect::float_conversion(DType from, DType to, ir::Rounding rounding,
                                          const std::string& value) {
  if (codegen::is_narrow_float(to)) return to_narrow_float(from, to, rounding, value);
  std::string number = wide(from, value);
  if (is_float(from) && is_integer(to))
    return call(prelude_.saturate(from == DType::kFloat64 ? from : DType::kFloat32, to), number);
  if (to == DType::kFloat32 && from == DType::kFloat64 && rounding == ir::Rounding::kTowardZero)
    return call("__double2float_rz", value);
  bool is_there = codegen::is_narrow_float(from) && to == DType::kFloat32;
  return is_there ? number : call(type_name(to), number);
}

std::string CudaDialect::from_float8(DType from, const std::string& value) {
  return call(prelude_.widen_float8(from), value);
}

// What float rounds, an integer beyond 2^24, is out of range all the same.
std::string CudaDialect::to_float8(DType from, DType to, ir::Rounding rounding,
                                   const std::string& value) {
  std::string number = from == DType::kFloat32   ? value
                       : from == DType::kFloat64 ? call(prelude_.round_to_odd(from), value)
                                                 : call("float", value);
  return call(prelude_.narrow_float8(to, rounding), number);
}

}  // namespace enceladus::cuda
