#include "codegen/metal/elementwise.h"

#include "codegen/metal/dialect.h"
#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::metal {
namespace {

using ir::AttributeName;
using ir::Opcode;

std::string call(std::string_view function, const std::string& a) {
  return std::string(function) + "(" + a + ")";
}

std::string call(std::string_view function, const std::string& a, const std::string& b) {
  return std::string(function) + "(" + a + ", " + b + ")";
}

bool is_narrow_float(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

// The unsigned type of a signed integer's width, in which arithmetic wraps.
std::string wrapping_type(DType dtype) {
  switch (dtype) {
    case DType::kInt32:
      return "uint";
    case DType::kInt64:
      return "ulong";
    default:
      return std::string(type_name(dtype));
  }
}

class Expression {
 public:
  Expression(const ir::Operation& op, const std::vector<std::string>& operands,
             const ElementwiseContext& context)
      : op_(op), operands_(operands), context_(context), dtype_(op.operand(0)->type().dtype()) {}

  std::string run() {
    switch (op_.opcode()) {
      case Opcode::kSelect:
        return operands_[2] + " ? " + operands_[0] + " : " + operands_[1];
      case Opcode::kCast:
        return conversion(dtype_, result_dtype(), rounding(), operands_[0], context_);
      case Opcode::kBitcast:
        return bitcast();
      case Opcode::kEq:
        return infix("==");
      case Opcode::kNe:
        return infix("!=");
      case Opcode::kLt:
        return infix("<");
      case Opcode::kLe:
        return infix("<=");
      case Opcode::kGt:
        return infix(">");
      case Opcode::kGe:
        return infix(">=");
      default:
        return is_float(dtype_) ? of_float() : of_integer();
    }
  }

 private:
  DType result_dtype() const { return op_.result()->type().dtype(); }
  ir::Rounding rounding() const {
    return static_cast<ir::Rounding>(op_.integer_or(AttributeName::kRounding, 0));
  }

  std::string infix(std::string_view symbol) const {
    return operands_[0] + " " + std::string(symbol) + " " + operands_[1];
  }

  // The operand as the float that narrow types compute in.
  std::string wide(size_t index) const {
    return is_narrow_float(dtype_) ? call("float", operands_[index]) : operands_[index];
  }

  std::string rounded(const std::string& value) const {
    return is_narrow_float(dtype_) ? call(type_name(dtype_), value) : value;
  }

  std::string wide_infix(std::string_view symbol) const {
    return rounded(wide(0) + " " + std::string(symbol) + " " + wide(1));
  }

  // Accurate to a few ulp in every math mode but `fast`; the language's own choice is `fast`.
  std::string function(std::string_view name) const {
    std::string space = context_.math_mode == ir::MathMode::kFast ? "fast::" : "precise::";
    return rounded(call(space + std::string(name), wide(0)));
  }

  std::string helper(Helper helper) const {
    std::string name = context_.prelude.use(helper);
    return rounded(operands_.size() > 1 ? call(name, wide(0), wide(1)) : call(name, wide(0)));
  }

  std::string of_float() const {
    switch (op_.opcode()) {
      case Opcode::kNeg:
        return "-" + operands_[0];
      case Opcode::kAbs:
        return rounded(call("fabs", wide(0)));
      case Opcode::kExp:
        return function("exp");
      case Opcode::kExp2:
        return function("exp2");
      case Opcode::kLog:
        return function("log");
      case Opcode::kLog2:
        return function("log2");
      case Opcode::kSqrt:
        return function("sqrt");
      case Opcode::kSqrtRn:
        return helper(Helper::kSqrtRn);
      case Opcode::kRsqrt:
        return function("rsqrt");
      case Opcode::kSin:
        return function("sin");
      case Opcode::kCos:
        return function("cos");
      case Opcode::kTanh:
        // The fast form is wrong near 0 and NaN from 45 on.
        return rounded(call("precise::tanh", wide(0)));
      case Opcode::kErf:
        return helper(Helper::kErf);
      case Opcode::kFloor:
        return rounded(call("floor", wide(0)));
      case Opcode::kCeil:
        return rounded(call("ceil", wide(0)));
      case Opcode::kAdd:
        return wide_infix("+");
      case Opcode::kSub:
        return wide_infix("-");
      case Opcode::kMul:
        return wide_infix("*");
      case Opcode::kDiv:
        return wide_infix("/");
      case Opcode::kDivRn:
        return helper(Helper::kDivRn);
      case Opcode::kRem:
        return rounded(call("fmod", wide(0), wide(1)));
      case Opcode::kMin:
        return extremum("fmin", Helper::kMinNan);
      case Opcode::kMax:
        return extremum("fmax", Helper::kMaxNan);
      case Opcode::kFma:
        return rounded("fma(" + wide(0) + ", " + wide(1) + ", " + wide(2) + ")");
      default:
        ENC_CHECK(false, "no float operation: " + std::string(op_.record().name));
        return {};
    }
  }

  std::string extremum(std::string_view function, Helper propagating) const {
    if (op_.integer_or(AttributeName::kPropagateNan, 0)) return helper(propagating);
    return rounded(call(function, wide(0), wide(1)));
  }

  // Arithmetic that wraps: in the unsigned type of the width; narrow types come back from int.
  std::string wrapping(std::string_view symbol) const {
    if (is_bool(dtype_))
      return "bool((int(" + operands_[0] + ") " + std::string(symbol) + " int(" + operands_[1] +
             ")) & 1)";
    std::string type(type_name(dtype_)), wraps = wrapping_type(dtype_);
    if (bit_width(dtype_) >= 32 && !analysis::may_wrap(op_, context_.facts)) return infix(symbol);
    if (wraps == type && bit_width(dtype_) >= 32) return infix(symbol);
    if (wraps == type) return call(type, infix(symbol));
    return type + "(" + call(wraps, operands_[0]) + " " + std::string(symbol) + " " +
           call(wraps, operands_[1]) + ")";
  }

  std::string narrowed(const std::string& value) const {
    bool promotes = bit_width(dtype_) < 32;
    return promotes ? call(type_name(dtype_), value) : value;
  }

  std::string of_integer() const {
    switch (op_.opcode()) {
      case Opcode::kNeg:
        return is_bool(dtype_) ? operands_[0]
                               : std::string(type_name(dtype_)) + "(0 - " +
                                     call(wrapping_type(dtype_), operands_[0]) + ")";
      case Opcode::kNot:
        return is_bool(dtype_) ? "!" + operands_[0] : narrowed("~" + operands_[0]);
      case Opcode::kAbs:
        if (!is_signed(dtype_)) return operands_[0];
        return operands_[0] + " < 0 ? " + std::string(type_name(dtype_)) + "(0 - " +
               call(wrapping_type(dtype_), operands_[0]) + ") : " + operands_[0];
      case Opcode::kAdd:
        return wrapping("+");
      case Opcode::kSub:
        return wrapping("-");
      case Opcode::kMul:
        return wrapping("*");
      case Opcode::kDiv:
        return quotient();
      case Opcode::kRem:
        return remainder();
      case Opcode::kMin:
        return is_bool(dtype_) ? infix("&&") : call("min", operands_[0], operands_[1]);
      case Opcode::kMax:
        return is_bool(dtype_) ? infix("||") : call("max", operands_[0], operands_[1]);
      case Opcode::kAnd:
        return is_bool(dtype_) ? infix("&&") : narrowed(infix("&"));
      case Opcode::kOr:
        return is_bool(dtype_) ? infix("||") : narrowed(infix("|"));
      case Opcode::kXor:
        return is_bool(dtype_) ? infix("!=") : narrowed(infix("^"));
      case Opcode::kShl:
        return shift("<<");
      case Opcode::kShr:
        return shift(">>");
      case Opcode::kUMulHi:
        return high_product();
      default:
        ENC_CHECK(false, "no integer operation: " + std::string(op_.record().name));
        return {};
    }
  }

  // The divisor where it is a constant other than 0 and -1, which need no care.
  bool divides_plainly() const {
    const ir::Value* divisor = op_.operand(1);
    while (divisor->definition() && divisor->definition()->is(Opcode::kSplat))
      divisor = divisor->definition()->operand(0);
    std::optional<int64_t> number = ir::constant_integer(divisor);
    return number && *number != 0 && *number != -1;
  }

  std::string quotient() const {
    if (is_bool(dtype_)) return infix("&&");
    if (divides_plainly()) return narrowed(infix("/"));
    return call(context_.prelude.divide(dtype_), operands_[0], operands_[1]);
  }

  std::string remainder() const {
    if (is_bool(dtype_)) return operands_[0] + " && !" + operands_[1];
    if (divides_plainly()) return narrowed(infix("%"));
    return call(context_.prelude.remainder(dtype_), operands_[0], operands_[1]);
  }

  std::string shift(std::string_view symbol) const {
    if (is_bool(dtype_)) return operands_[0];
    std::string amount =
        "(" + operands_[1] + " & " + integer_literal(dtype_, bit_width(dtype_) - 1) + ")";
    bool left = symbol == "<<";
    std::string value = left ? call(wrapping_type(dtype_), operands_[0]) : operands_[0];
    std::string text = value + " " + std::string(symbol) + " " + amount;
    return left || bit_width(dtype_) < 32 ? call(type_name(dtype_), text) : text;
  }

  std::string high_product() const {
    std::string type(type_name(dtype_));
    int width = bit_width(dtype_);
    if (width < 32)
      return type + "((uint(u" + (is_signed(dtype_) ? type : type.substr(1)) + "(" + operands_[0] +
             ")) * uint(u" + (is_signed(dtype_) ? type : type.substr(1)) + "(" + operands_[1] +
             "))) >> " + std::to_string(width) + ")";
    std::string wide = width == 32 ? "uint" : "ulong";
    return type + "(mulhi(" + call(wide, operands_[0]) + ", " + call(wide, operands_[1]) + "))";
  }

  std::string bitcast() const {
    const ir::Type& from = op_.operand(0)->type();
    const ir::Type& to = op_.result()->type();
    if (to.is_pointer())
      return "(device " + std::string(memory_type_name(to.dtype())) + "*)(" + operands_[0] + ")";
    std::string type(type_name(to.dtype()));
    if (from.is_pointer()) return type + "(ulong(" + operands_[0] + "))";
    if (from.dtype() == to.dtype()) return operands_[0];
    if (is_integer(from.dtype()) && is_integer(to.dtype())) return call(type, operands_[0]);
    return "as_type<" + type + ">(" + operands_[0] + ")";
  }

  const ir::Operation& op_;
  const std::vector<std::string>& operands_;
  const ElementwiseContext& context_;
  DType dtype_;
};

std::string to_narrow_float(DType from, DType to, ir::Rounding rounding, const std::string& value,
                            const ElementwiseContext& context) {
  std::string type(type_name(to));
  if (is_float(from) && rounding == ir::Rounding::kTowardZero) {
    Helper helper = to == DType::kFloat16 ? Helper::kHalfTowardZero : Helper::kBFloatTowardZero;
    return call(context.prelude.use(helper), call("float", value));
  }
  // What float holds exactly, or what overflows half whatever its last bits, rounds once.
  bool through_float = is_float(from) || bit_width(from) <= 16 || to == DType::kFloat16;
  if (through_float) return call(type, from == DType::kFloat32 ? value : call("float", value));
  return call(context.prelude.round_to_bfloat(from), value);
}

}  // namespace

std::string conversion(DType from, DType to, ir::Rounding rounding, const std::string& value,
                       const ElementwiseContext& context) {
  if (from == to) return value;
  if (is_bool(to))
    return value + " != " + (is_float(from) ? literal(from, 0) : integer_literal(from, 0));
  if (to == DType::kFloat16 || to == DType::kBFloat16)
    return to_narrow_float(from, to, rounding, value, context);
  if (is_float(from) && is_integer(to)) {
    std::string number = from == DType::kFloat32 ? value : call("float", value);
    return call(context.prelude.saturate(to), number);
  }
  return call(type_name(to), value);
}

std::string elementwise(const ir::Operation& op, const std::vector<std::string>& operands,
                        const ElementwiseContext& context) {
  return Expression(op, operands, context).run();
}

}  // namespace enceladus::metal
