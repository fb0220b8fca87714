#include "frontend/arithmetic.h"

#include "frontend/literals.h"
#include "frontend/promotion.h"
#include "support/check.h"

namespace enceladus::frontend {
namespace {

std::string quoted(Operator op) { return "`" + std::string(symbol_of(op)) + "`"; }

Value python_binary(Context& context, Operator op, const Value& a, const Value& b) {
  PyObject *x = a.object.ptr(), *y = b.object.ptr(), *result = nullptr;
  switch (op) {
    case Operator::kAdd:
      result = PyNumber_Add(x, y);
      break;
    case Operator::kSub:
      result = PyNumber_Subtract(x, y);
      break;
    case Operator::kMul:
      result = PyNumber_Multiply(x, y);
      break;
    case Operator::kDiv:
      result = PyNumber_TrueDivide(x, y);
      break;
    case Operator::kFloorDiv:
      result = PyNumber_FloorDivide(x, y);
      break;
    case Operator::kMod:
      result = PyNumber_Remainder(x, y);
      break;
    case Operator::kPow:
      result = PyNumber_Power(x, y, Py_None);
      break;
    case Operator::kLeftShift:
      result = PyNumber_Lshift(x, y);
      break;
    case Operator::kRightShift:
      result = PyNumber_Rshift(x, y);
      break;
    case Operator::kBitOr:
      result = PyNumber_Or(x, y);
      break;
    case Operator::kBitXor:
      result = PyNumber_Xor(x, y);
      break;
    case Operator::kBitAnd:
      result = PyNumber_And(x, y);
      break;
    case Operator::kMatMul:
      result = PyNumber_MatrixMultiply(x, y);
      break;
    default:
      ENC_CHECK(false, "no binary operator");
  }
  if (!result) context.fail_in_python(quoted(op));
  return Value::constant(nb::steal(result));
}

// Tuples join with `+` and repeat with `*`, whatever their elements.
std::optional<Value> tuple_operation(Operator op, const Value& a, const Value& b) {
  if (!a.is_tuple() && !b.is_tuple()) return std::nullopt;
  std::optional<std::vector<Value>> left = elements_of(a), right = elements_of(b);
  if (op == Operator::kAdd && left && right) {
    left->insert(left->end(), right->begin(), right->end());
    return Value::tuple(std::move(*left));
  }
  std::optional<int64_t> count = constant_int(left ? b : a);
  if (op != Operator::kMul || !count) return std::nullopt;
  std::vector<Value> result;
  const std::vector<Value>& once = left ? *left : *right;
  for (int64_t i = 0; i < *count; ++i) result.insert(result.end(), once.begin(), once.end());
  return Value::tuple(std::move(result));
}

void check_shift(Context& context, Operator op, const Value& amount, DType dtype) {
  std::optional<int64_t> count = constant_int(amount);
  if (!count || (*count >= 0 && *count < bit_width(dtype))) return;
  context.fail(DiagnosticId::kShiftTooFar, {std::string(symbol_of(op)), std::to_string(*count),
                                            std::string(info(dtype).python_name)});
}

struct Rule {
  ir::Opcode opcode;
  OperandRule operands;
};

Rule rule_of(Operator op) {
  switch (op) {
    case Operator::kAdd:
      return {ir::Opcode::kAdd, OperandRule::kArithmetic};
    case Operator::kSub:
      return {ir::Opcode::kSub, OperandRule::kArithmetic};
    case Operator::kMul:
      return {ir::Opcode::kMul, OperandRule::kArithmetic};
    case Operator::kDiv:
      return {ir::Opcode::kDiv, OperandRule::kDivision};
    case Operator::kFloorDiv:
      return {ir::Opcode::kDiv, OperandRule::kArithmetic};
    case Operator::kMod:
      return {ir::Opcode::kRem, OperandRule::kArithmetic};
    case Operator::kLeftShift:
      return {ir::Opcode::kShl, OperandRule::kArithmetic};
    case Operator::kRightShift:
      return {ir::Opcode::kShr, OperandRule::kArithmetic};
    case Operator::kBitOr:
      return {ir::Opcode::kOr, OperandRule::kBitwise};
    case Operator::kBitXor:
      return {ir::Opcode::kXor, OperandRule::kBitwise};
    case Operator::kBitAnd:
      return {ir::Opcode::kAnd, OperandRule::kBitwise};
    default:
      break;
  }
  ENC_CHECK(false, "no arithmetic operator");
  return {};
}

Value arithmetic(Context& context, Operator op, const Value& a, const Value& b) {
  Rule rule = rule_of(op);
  // As in Triton, `/` first brings integers to their common type: int8 -1 over a uint8 is 255 over
  // it.
  bool of_integers = rule.operands == OperandRule::kDivision && is_number(context, a) &&
                     is_number(context, b) && !is_float(common_dtype(context, a, b));
  if (of_integers) rule.operands = OperandRule::kArithmetic;
  Operands operands = promote(context, a, b, rule.operands, quoted(op));
  if (of_integers) {
    operands.a = context.builder.cast(operands.a, DType::kFloat32);
    operands.b = context.builder.cast(operands.b, DType::kFloat32);
  }
  bool shift = op == Operator::kLeftShift || op == Operator::kRightShift;
  if (shift) check_shift(context, op, b, operands.dtype);
  bool integers_only = shift || op == Operator::kFloorDiv;
  if (integers_only && is_float(operands.dtype)) {
    DiagnosticId id =
        shift ? DiagnosticId::kWrongOperandType : DiagnosticId::kFloorDivisionOfFloats;
    context.fail(id, {quoted(op), "integers", std::string(info(operands.dtype).python_name)});
  }
  return emit(context, rule.opcode, {operands.a, operands.b});
}

bool is_pointer(const Value& value) { return value.is_runtime() && value.type().is_pointer(); }

Value pointer_arithmetic(Context& context, Operator op, const Value& a, const Value& b) {
  if (op == Operator::kAdd && is_pointer(a) && !is_pointer(b))
    return offset_pointer(context, a, b, false);
  if (op == Operator::kAdd && is_pointer(b) && !is_pointer(a))
    return offset_pointer(context, b, a, false);
  if (op == Operator::kSub && is_pointer(a) && !is_pointer(b))
    return offset_pointer(context, a, b, true);
  context.fail(DiagnosticId::kPointerArithmetic,
               {std::string(symbol_of(op)), describe(a), describe(b)});
}

Value python_compare(Context& context, Operator op, const Value& a, const Value& b) {
  PyObject *x = a.object.ptr(), *y = b.object.ptr();
  int kind = Py_EQ;
  switch (op) {
    case Operator::kEqual:
      kind = Py_EQ;
      break;
    case Operator::kNotEqual:
      kind = Py_NE;
      break;
    case Operator::kLess:
      kind = Py_LT;
      break;
    case Operator::kLessEqual:
      kind = Py_LE;
      break;
    case Operator::kGreater:
      kind = Py_GT;
      break;
    case Operator::kGreaterEqual:
      kind = Py_GE;
      break;
    case Operator::kIn:
    case Operator::kNotIn: {
      int found = PySequence_Contains(y, x);
      if (found < 0) context.fail_in_python(quoted(op));
      return Value::boolean((found == 1) == (op == Operator::kIn));
    }
    default:
      ENC_CHECK(false, "no comparison");
  }
  PyObject* result = PyObject_RichCompare(x, y, kind);
  if (!result) context.fail_in_python(quoted(op));
  return Value::constant(nb::steal(result));
}

ir::Opcode comparison_opcode(Context& context, Operator op) {
  switch (op) {
    case Operator::kEqual:
      return ir::Opcode::kEq;
    case Operator::kNotEqual:
      return ir::Opcode::kNe;
    case Operator::kLess:
      return ir::Opcode::kLt;
    case Operator::kLessEqual:
      return ir::Opcode::kLe;
    case Operator::kGreater:
      return ir::Opcode::kGt;
    case Operator::kGreaterEqual:
      return ir::Opcode::kGe;
    default:
      break;
  }
  context.fail(DiagnosticId::kConstantNeeded, {quoted(op), "an operand"});
}

Value compare_pointers(Context& context, Operator op, const Value& a, const Value& b) {
  bool comparable = is_pointer(a) && is_pointer(b) && a.type().dtype() == b.type().dtype();
  if (!comparable)
    context.fail(DiagnosticId::kPointerArithmetic,
                 {std::string(symbol_of(op)), describe(a), describe(b)});
  std::vector<int64_t> shape = common_shape(context, shape_of(a), shape_of(b));
  return emit(
      context, comparison_opcode(context, op),
      {context.builder.broadcast_to(a.ssa, shape), context.builder.broadcast_to(b.ssa, shape)});
}

}  // namespace

Value emit(Context& context, ir::Opcode opcode, std::initializer_list<ir::Value*> operands) {
  return Value::runtime(context.builder.create(opcode, operands));
}

Value binary(Context& context, Operator op, const Value& a, const Value& b) {
  if (a.is_constant() && b.is_constant()) return python_binary(context, op, a, b);
  if (std::optional<Value> tuple = tuple_operation(op, a, b)) return *tuple;
  if (is_pointer(a) || is_pointer(b)) return pointer_arithmetic(context, op, a, b);
  if (op == Operator::kPow) return power(context, a, b);
  if (op == Operator::kMatMul) context.fail(DiagnosticId::kMatMulOperator);
  return arithmetic(context, op, a, b);
}

Value unary(Context& context, Operator op, const Value& a) {
  if (op == Operator::kNot) {
    Value value = condition(context, a);
    if (value.is_constant()) return Value::boolean(!value.is_true());
    return emit(context, ir::Opcode::kNot, {value.ssa});
  }
  if (a.is_constant()) {
    PyObject* x = a.object.ptr();
    PyObject* result = op == Operator::kMinus  ? PyNumber_Negative(x)
                       : op == Operator::kPlus ? PyNumber_Positive(x)
                                               : PyNumber_Invert(x);
    if (!result) context.fail_in_python(quoted(op));
    return Value::constant(nb::steal(result));
  }
  if (!a.is_runtime() || !a.type().is_number())
    context.fail(DiagnosticId::kBadOperand, {quoted(op), describe(a)});
  if (op == Operator::kInvert) {
    if (a.type().is_float())
      context.fail(DiagnosticId::kWrongOperandType,
                   {"`~`", "integers", std::string(info(a.type().dtype()).python_name)});
    return emit(context, ir::Opcode::kNot, {a.ssa});
  }
  ir::Value* operand = a.type().is_bool() ? context.builder.cast(a.ssa, DType::kInt32) : a.ssa;
  if (op == Operator::kPlus) return Value::runtime(operand);
  refuse_float8(context, operand->type().dtype(), quoted(op));
  return emit(context, ir::Opcode::kNeg, {operand});
}

Value compare(Context& context, Operator op, const Value& a, const Value& b) {
  if (op == Operator::kIs || op == Operator::kIsNot) {
    bool same = a.is_constant() && b.is_constant() ? a.object.is(b.object) : is_same(a, b);
    return Value::boolean(same == (op == Operator::kIs));
  }
  if (a.is_constant() && b.is_constant()) return python_compare(context, op, a, b);
  bool equality = op == Operator::kEqual || op == Operator::kNotEqual;
  if (equality && (a.is_none() || b.is_none())) return Value::boolean(op == Operator::kNotEqual);
  if (is_pointer(a) || is_pointer(b)) return compare_pointers(context, op, a, b);
  ir::Opcode opcode = comparison_opcode(context, op);
  Operands operands = promote(context, a, b, OperandRule::kOrdered, quoted(op));
  return emit(context, opcode, {operands.a, operands.b});
}

Value power(Context& context, const Value& a, const Value& exponent) {
  std::optional<int64_t> count = constant_int(exponent);
  if (!count) context.fail(DiagnosticId::kPowerExponent, {describe(exponent)});
  ir::Value* base = materialize(context, a);
  if (!base->type().is_number()) context.fail(DiagnosticId::kBadOperand, {"`**`", describe(a)});
  if (base->type().is_bool()) base = context.builder.cast(base, DType::kInt32);
  refuse_float8(context, base->type().dtype(), "`**`");
  if (*count < 0 && !base->type().is_float())
    context.fail(DiagnosticId::kNegativePower, {to_user_string(base->type())});
  ir::Value* result = nullptr;
  for (uint64_t n = static_cast<uint64_t>(std::abs(*count)); n != 0; n >>= 1) {
    if (n & 1) result = result ? context.builder.create(ir::Opcode::kMul, {result, base}) : base;
    if (n > 1) base = context.builder.create(ir::Opcode::kMul, {base, base});
  }
  if (!result) return Value::runtime(context.builder.integer(base->type(), 1));
  if (*count > 0) return Value::runtime(result);
  ir::Value* one = context.builder.integer(base->type(), 1);
  return emit(context, ir::Opcode::kDiv, {one, result});
}

Value offset_pointer(Context& context, const Value& pointer, const Value& offset, bool negated) {
  if (!is_number(context, offset))
    context.fail(DiagnosticId::kPointerArithmetic,
                 {negated ? "-" : "+", describe(pointer), describe(offset)});
  ir::Value* amount = materialize(context, offset);
  if (!amount->type().is_integer())
    context.fail(DiagnosticId::kPointerArithmetic,
                 {negated ? "-" : "+", describe(pointer), to_user_string(amount->type())});
  if (amount->type().is_bool()) amount = context.builder.cast(amount, DType::kInt32);
  if (negated) {
    // In unsigned arithmetic the negation would wrap.
    if (is_unsigned(amount->type().dtype())) amount = context.builder.cast(amount, DType::kInt64);
    amount = context.builder.create(ir::Opcode::kNeg, {amount});
  }
  std::vector<int64_t> shape =
      common_shape(context, pointer.type().shape(), amount->type().shape());
  return emit(context, ir::Opcode::kAddPtr,
              {context.builder.broadcast_to(pointer.ssa, shape),
               context.builder.broadcast_to(amount, shape)});
}

ir::Value* as_bool(Context& context, ir::Value* value) {
  if (value->type().is_bool()) return value;
  if (is_float8(value->type().dtype())) return context.builder.cast(value, DType::kInt1);
  return context.builder.create(ir::Opcode::kNe,
                                {value, context.builder.integer(value->type(), 0)});
}

bool truth(Context& context, const Value& constant) {
  int result = PyObject_IsTrue(constant.object.ptr());
  if (result < 0) context.fail_in_python("the condition");
  return result == 1;
}

Value condition(Context& context, const Value& value) {
  if (value.is_constant()) return Value::boolean(truth(context, value));
  if (value.is_tuple()) return Value::boolean(!value.elements().empty());
  if (!value.is_runtime() || !value.type().is_number())
    context.fail(DiagnosticId::kBadCondition, {describe(value)});
  if (value.type().rank() > 0)
    context.fail(DiagnosticId::kTileCondition, {shape_text(value.type().shape())});
  return Value::runtime(as_bool(context, value.ssa));
}

}  // namespace enceladus::frontend
