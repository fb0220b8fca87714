#include "codegen/common/elementwise.h"

#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::codegen {
namespace {

using ir::AttributeName;
using ir::Opcode;

class Expression {
 public:
  Expression(const ir::Operation& op, const std::vector<std::string>& operands,
             const ElementwiseContext& context)
      : op_(op),
        operands_(operands),
        context_(context),
        dialect_(context.dialect),
        dtype_(op.operand(0)->type().dtype()) {}

  std::string run() {
    switch (op_.opcode()) {
      case Opcode::kSelect:
        return operands_[2] + " ? " + operands_[0] + " : " + operands_[1];
      case Opcode::kCast:
        return conversion(dtype_, op_.result()->type().dtype(), rounding(), operands_[0], dialect_);
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
        if (is_float(dtype_)) return dialect_.float_operation(op_, operands_, context_.math_mode);
        return of_integer();
    }
  }

 private:
  ir::Rounding rounding() const {
    return static_cast<ir::Rounding>(op_.integer_or(AttributeName::kRounding, 0));
  }

  std::string infix(std::string_view symbol) const {
    return operands_[0] + " " + std::string(symbol) + " " + operands_[1];
  }

  std::string type() const { return std::string(dialect_.type_name(dtype_)); }

  // The unsigned type of a signed integer's width, in which arithmetic wraps.
  std::string wrapping_type() const {
    switch (dtype_) {
      case DType::kInt32:
        return "uint";
      case DType::kInt64:
        return "ulong";
      default:
        return type();
    }
  }

  // Arithmetic that wraps: in the unsigned type of the width; narrow types come back from int.
  std::string wrapping(std::string_view symbol) const {
    if (is_bool(dtype_))
      return "bool((int(" + operands_[0] + ") " + std::string(symbol) + " int(" + operands_[1] +
             ")) & 1)";
    std::string wraps = wrapping_type();
    if (bit_width(dtype_) >= 32 && !analysis::may_wrap(op_, context_.facts)) return infix(symbol);
    if (wraps == type() && bit_width(dtype_) >= 32) return infix(symbol);
    if (wraps == type()) return call(type(), infix(symbol));
    return type() + "(" + call(wraps, operands_[0]) + " " + std::string(symbol) + " " +
           call(wraps, operands_[1]) + ")";
  }

  std::string narrowed(const std::string& value) const {
    bool promotes = bit_width(dtype_) < 32;
    return promotes ? call(type(), value) : value;
  }

  std::string negated() const {
    return type() + "(0 - " + call(wrapping_type(), operands_[0]) + ")";
  }

  std::string of_integer() const {
    switch (op_.opcode()) {
      case Opcode::kNeg:
        return is_bool(dtype_) ? operands_[0] : negated();
      case Opcode::kNot:
        return is_bool(dtype_) ? "!" + operands_[0] : narrowed("~" + operands_[0]);
      case Opcode::kAbs:
        if (!is_signed(dtype_)) return operands_[0];
        return operands_[0] + " < 0 ? " + negated() + " : " + operands_[0];
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

  // What a division has to look out for.
  struct Care {
    bool zero, wrapping;  // a divisor of 0; of -1 where the dividend's negative wraps
  };
  Care care() const {
    analysis::Range dividend = context_.facts.range(op_.operand(0));
    analysis::Range divisor = context_.facts.range(op_.operand(1));
    bool is_unknown = dtype_ == DType::kUInt64 && divisor.low < 0;
    return {.zero = is_unknown || (divisor.low <= 0 && divisor.high >= 0),
            .wrapping = is_signed(dtype_) && divisor.low <= -1 && divisor.high >= -1 &&
                        dividend.low == analysis::Range::of_dtype(dtype_).low};
  }

  std::string unless_zero(const std::string& otherwise, const std::string& value) const {
    return operands_[1] + " == 0 ? " + otherwise + " : " + value;
  }

  std::string quotient() const {
    if (is_bool(dtype_)) return infix("&&");
    auto [zero, wrapping] = care();
    if (wrapping) return call(dialect_.divide(dtype_), operands_[0], operands_[1]);
    std::string plain = narrowed(infix("/"));
    return zero ? unless_zero(integer_literal(type(), dtype_, 0), plain) : plain;
  }

  std::string remainder() const {
    if (is_bool(dtype_)) return operands_[0] + " && !" + operands_[1];
    auto [zero, wrapping] = care();
    if (wrapping) return call(dialect_.remainder(dtype_), operands_[0], operands_[1]);
    std::string plain = narrowed(infix("%"));
    return zero ? unless_zero(operands_[0], plain) : plain;
  }

  std::string shift(std::string_view symbol) const {
    if (is_bool(dtype_)) return operands_[0];
    std::string amount =
        "(" + operands_[1] + " & " + integer_literal(type(), dtype_, bit_width(dtype_) - 1) + ")";
    bool left = symbol == "<<";
    std::string value = left ? call(wrapping_type(), operands_[0]) : operands_[0];
    std::string text = value + " " + std::string(symbol) + " " + amount;
    return left || bit_width(dtype_) < 32 ? call(type(), text) : text;
  }

  std::string high_product() const {
    int width = bit_width(dtype_);
    std::string wide = width == 64 ? "ulong" : "uint";
    if (width >= 32)
      return type() + "(" +
             call(dialect_.high_product(dtype_), call(wide, operands_[0]),
                  call(wide, operands_[1])) +
             ")";
    std::string narrow = width == 16 ? "ushort" : "uchar";
    auto widened = [&](const std::string& value) { return call(wide, call(narrow, value)); };
    return type() + "((" + widened(operands_[0]) + " * " + widened(operands_[1]) + ") >> " +
           std::to_string(width) + ")";
  }

  std::string bitcast() const {
    const ir::Type& from = op_.operand(0)->type();
    const ir::Type& to = op_.result()->type();
    if (to.is_pointer())
      return "(" + dialect_.pointer_type(to.dtype(), false) + ")(" + operands_[0] + ")";
    std::string target(dialect_.type_name(to.dtype()));
    if (from.is_pointer()) return target + "(ulong(" + operands_[0] + "))";
    if (from.dtype() == to.dtype()) return operands_[0];
    if (is_integer(from.dtype()) && is_integer(to.dtype())) return call(target, operands_[0]);
    return "as_type<" + target + ">(" + operands_[0] + ")";
  }

  const ir::Operation& op_;
  const std::vector<std::string>& operands_;
  const ElementwiseContext& context_;
  Dialect& dialect_;
  DType dtype_;
};

}  // namespace

std::string conversion(DType from, DType to, ir::Rounding rounding, const std::string& value,
                       Dialect& dialect) {
  if (from == to) return value;
  if (is_float8(from))
    return conversion(DType::kFloat32, to, rounding, dialect.from_float8(from, value), dialect);
  if (is_float8(to)) return dialect.to_float8(from, to, rounding, value);
  if (is_bool(to))
    return value + " != " +
           (is_float(from) ? dialect.literal(from, 0)
                           : integer_literal(dialect.type_name(from), from, 0));
  if (is_float(from) || is_float(to)) return dialect.float_conversion(from, to, rounding, value);
  return call(dialect.type_name(to), value);
}

std::string elementwise(const ir::Operation& op, const std::vector<std::string>& operands,
                        const ElementwiseContext& context) {
  return Expression(op, operands, context).run();
}

}  // namespace enceladus::codegen
