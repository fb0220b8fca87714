// Handlers: arithmetic beyond the operators, conversion and math.
#include "frontend/handlers.h"

namespace enceladus::frontend {
namespace {

Value float_function(const Arguments& arguments, ir::Opcode opcode) {
  ir::Value* x = arguments.number("x");
  refuse_float8(arguments.context(), x->type().dtype(), arguments.quoted());
  if (!x->type().is_float())
    arguments.context().fail(DiagnosticId::kFloatNeeded,
                             {arguments.quoted(), to_user_string(x->type())});
  return emit(arguments.context(), opcode, {x});
}

std::vector<ir::Attribute> nan_attribute(const Arguments& arguments) {
  const Value& given = arguments.value("propagate_nan");
  if (!given.is_constant()) arguments.fail_constant_needed("propagate_nan");
  PyObject* number = PyObject_GetAttr(given.object.ptr(), names().value);
  if (!number) {
    PyErr_Clear();
    arguments.context().fail(DiagnosticId::kWrongArgument,
                             {arguments.quoted(), "propagate_nan",
                              "`tl.PropagateNan.NONE` or `tl.PropagateNan.ALL`", describe(given)});
  }
  if (constant_int(Value::constant(nb::steal(number))) == 0) return {};
  return {{ir::AttributeName::kPropagateNan, int64_t{1}}};
}

Value extremum(const Arguments& arguments, ir::Opcode opcode) {
  Operands operands = promote(arguments.context(), arguments.value("x"), arguments.value("y"),
                              OperandRule::kOrdered, arguments.quoted());
  return Value::runtime(arguments.context().builder.create(opcode, {operands.a, operands.b},
                                                           nan_attribute(arguments)));
}

struct Triple {
  ir::Value* x;
  ir::Value* y;
  ir::Value* z;
};

// Three values promoted and broadcast together.
Triple promote_three(const Arguments& arguments, const char* x, const char* y, const char* z) {
  Context& context = arguments.context();
  Operands first = promote(context, arguments.value(x), arguments.value(y), OperandRule::kSame,
                           arguments.quoted());
  // A literal pair has no type of its own yet, so the third decides with the original values.
  Operands second = promote(context, Value::runtime(first.a), arguments.value(z),
                            OperandRule::kFloat, arguments.quoted());
  std::span<const int64_t> shape = second.a->type().shape();
  ir::Value* middle =
      context.builder.broadcast_to(context.builder.cast(first.b, second.dtype), shape);
  return {second.a, middle, second.b};
}

Value bitcast(const Arguments& arguments, ir::Value* input, const ir::Type& type) {
  Context& context = arguments.context();
  auto width = [](const ir::Type& t) { return t.is_pointer() ? 64 : bit_width(t.dtype()); };
  if (width(input->type()) != width(type))
    context.fail(DiagnosticId::kBitcastWidth,
                 {to_user_string(input->type()), to_user_string(type)});
  if (input->type() == type) return Value::runtime(input);
  return Value::runtime(context.builder.create_typed(ir::Opcode::kBitcast, {input}, type));
}

ir::Rounding rounding(const Arguments& arguments, DType from, DType to) {
  std::string text = arguments.text("fp_downcast_rounding");
  if (text.empty()) return ir::Rounding::kNearestEven;
  if (text != "rtne" && text != "rtz")
    arguments.context().fail(
        DiagnosticId::kUnknownChoice,
        {arguments.quoted(), "fp_downcast_rounding", text, "\"rtne\", \"rtz\""});
  bool narrows = is_float(from) && is_float(to) && bit_width(to) < bit_width(from);
  if (!narrows)
    arguments.context().fail(
        DiagnosticId::kRoundingWithoutNarrowing,
        {std::string(info(from).python_name), std::string(info(to).python_name)});
  return text == "rtz" ? ir::Rounding::kTowardZero : ir::Rounding::kNearestEven;
}

}  // namespace

template <>
Value handle<FunctionId::kWhere>(const Arguments& arguments) {
  Context& context = arguments.context();
  ir::Value* condition = as_bool(context, arguments.number("condition"));
  const Value &x = arguments.value("x"), &y = arguments.value("y");
  bool pointers = x.is_runtime() && y.is_runtime() && x.type().is_pointer() &&
                  y.type().is_pointer() && x.type().dtype() == y.type().dtype();
  ir::Value *a = x.ssa, *b = y.ssa;
  if (!pointers) {
    Operands operands = promote(context, x, y, OperandRule::kSame, arguments.quoted());
    a = operands.a, b = operands.b;
  }
  std::vector<int64_t> shape = common_shape(context, a->type().shape(), b->type().shape());
  shape = common_shape(context, shape, condition->type().shape());
  ir::Builder& builder = context.builder;
  return emit(context, ir::Opcode::kSelect,
              {builder.broadcast_to(a, shape), builder.broadcast_to(b, shape),
               builder.broadcast_to(condition, shape)});
}

template <>
Value handle<FunctionId::kMaximum>(const Arguments& arguments) {
  return extremum(arguments, ir::Opcode::kMax);
}
template <>
Value handle<FunctionId::kMinimum>(const Arguments& arguments) {
  return extremum(arguments, ir::Opcode::kMin);
}

template <>
Value handle<FunctionId::kClamp>(const Arguments& arguments) {
  ir::Builder& builder = arguments.context().builder;
  Triple values = promote_three(arguments, "x", "min", "max");
  std::vector<ir::Attribute> nan = nan_attribute(arguments);
  ir::Value* above = builder.create(ir::Opcode::kMax, {values.x, values.y}, nan);
  return Value::runtime(builder.create(ir::Opcode::kMin, {above, values.z}, nan));
}

template <>
Value handle<FunctionId::kFma>(const Arguments& arguments) {
  Triple values = promote_three(arguments, "x", "y", "z");
  return emit(arguments.context(), ir::Opcode::kFma, {values.x, values.y, values.z});
}

template <>
Value handle<FunctionId::kAbs>(const Arguments& arguments) {
  ir::Value* x = arguments.number("x");
  refuse_float8(arguments.context(), x->type().dtype(), arguments.quoted());
  return emit(arguments.context(), ir::Opcode::kAbs, {x});
}

template <>
Value handle<FunctionId::kDivRn>(const Arguments& arguments) {
  Operands operands = promote(arguments.context(), arguments.value("x"), arguments.value("y"),
                              OperandRule::kFloat, arguments.quoted());
  return emit(arguments.context(), ir::Opcode::kDivRn, {operands.a, operands.b});
}

template <>
Value handle<FunctionId::kUMulHi>(const Arguments& arguments) {
  Context& context = arguments.context();
  Operands operands = promote(context, arguments.value("x"), arguments.value("y"),
                              OperandRule::kBitwise, arguments.quoted());
  if (bit_width(operands.dtype) < 32)
    context.fail(DiagnosticId::kWrongOperandType, {arguments.quoted(), "32-bit or 64-bit integers",
                                                   std::string(info(operands.dtype).python_name)});
  return emit(context, ir::Opcode::kUMulHi, {operands.a, operands.b});
}

template <>
Value handle<FunctionId::kCast>(const Arguments& arguments) {
  Context& context = arguments.context();
  const Value& input = arguments.value("input");
  const Value& target = arguments.value("dtype");
  bool is_bitcast = arguments.flag("bitcast");
  std::optional<DType> pointee =
      target.is_constant() ? pointee_of_object(target.object) : std::nullopt;
  bool from_pointer = input.is_runtime() && input.type().is_pointer();
  if (pointee) {
    ir::Value* value = from_pointer ? input.ssa : arguments.number("input");
    return bitcast(arguments, value, ir::Type::pointer(*pointee, value->type().shape()));
  }
  DType dtype = arguments.dtype("dtype");
  if (from_pointer) return bitcast(arguments, input.ssa, input.type().with_dtype(dtype));
  if (is_bitcast) {
    ir::Value* value = arguments.number("input");
    return bitcast(arguments, value, value->type().with_dtype(dtype));
  }
  if (input.is_constant()) {
    arguments.number("input");
    return Value::runtime(materialize_as(context, input, dtype));
  }
  ir::Value* value = arguments.number("input");
  return Value::runtime(
      context.builder.cast(value, dtype, rounding(arguments, value->type().dtype(), dtype)));
}

template <>
Value handle<FunctionId::kExp>(const Arguments& arguments) {
  return float_function(arguments, ir::Opcode::kExp);
}
template <>
Value handle<FunctionId::kExp2>(const Arguments& arguments) {
  return float_function(arguments, ir::Opcode::kExp2);
}
template <>
Value handle<FunctionId::kLog>(const Arguments& arguments) {
  return float_function(arguments, ir::Opcode::kLog);
}
template <>
Value handle<FunctionId::kLog2>(const Arguments& arguments) {
  return float_function(arguments, ir::Opcode::kLog2);
}
template <>
Value handle<FunctionId::kSqrt>(const Arguments& arguments) {
  return float_function(arguments, ir::Opcode::kSqrt);
}
template <>
Value handle<FunctionId::kSqrtRn>(const Arguments& arguments) {
  return float_function(arguments, ir::Opcode::kSqrtRn);
}
template <>
Value handle<FunctionId::kRsqrt>(const Arguments& arguments) {
  return float_function(arguments, ir::Opcode::kRsqrt);
}
template <>
Value handle<FunctionId::kSin>(const Arguments& arguments) {
  return float_function(arguments, ir::Opcode::kSin);
}
template <>
Value handle<FunctionId::kCos>(const Arguments& arguments) {
  return float_function(arguments, ir::Opcode::kCos);
}
template <>
Value handle<FunctionId::kTanh>(const Arguments& arguments) {
  return float_function(arguments, ir::Opcode::kTanh);
}
template <>
Value handle<FunctionId::kErf>(const Arguments& arguments) {
  return float_function(arguments, ir::Opcode::kErf);
}
template <>
Value handle<FunctionId::kFloor>(const Arguments& arguments) {
  return float_function(arguments, ir::Opcode::kFloor);
}
template <>
Value handle<FunctionId::kCeil>(const Arguments& arguments) {
  return float_function(arguments, ir::Opcode::kCeil);
}

}  // namespace enceladus::frontend
