// Handlers: programs, creation, compile time, debug; and the switch over all functions.
#include "frontend/handlers.h"

namespace enceladus::frontend {
namespace {

Value along_axis(const Arguments& arguments, ir::Opcode opcode) {
  int64_t axis = arguments.integer("axis");
  if (axis < 0 || axis > 2)
    arguments.context().fail(DiagnosticId::kGridAxis, {arguments.quoted(), std::to_string(axis)});
  return Value::runtime(arguments.context().builder.create_typed(
      opcode, {}, ir::Type::number(DType::kInt32), {{ir::AttributeName::kAxis, axis}}));
}

Value hint(const Arguments& arguments, ir::HintKind kind) {
  Context& context = arguments.context();
  const Value& input = arguments.value("input");
  std::vector<int64_t> values = arguments.integers("values");
  if (input.is_constant()) return input;
  if (!input.is_runtime())
    context.fail(DiagnosticId::kWrongArgument,
                 {arguments.quoted(), "input", "a tile or scalar", describe(input)});
  size_t wanted = std::max<size_t>(1, static_cast<size_t>(input.type().rank()));
  if (values.size() != wanted)
    context.fail(DiagnosticId::kHintCount, {arguments.quoted(), std::to_string(values.size()),
                                            describe(input), std::to_string(wanted)});
  for (int64_t value : values)
    if (value < 1)
      context.fail(DiagnosticId::kWrongArgument, {arguments.quoted(), "values", "positive ints",
                                                  "the constant " + std::to_string(value)});
  ir::Attribute attributes[] = {{ir::AttributeName::kHint, static_cast<int64_t>(kind)},
                                {ir::AttributeName::kValues, values}};
  return Value::runtime(
      context.builder.create(ir::Opcode::kHint, {input.ssa}, {attributes[0], attributes[1]}));
}

}  // namespace

template <>
Value handle<FunctionId::kProgramId>(const Arguments& arguments) {
  return along_axis(arguments, ir::Opcode::kProgramId);
}

template <>
Value handle<FunctionId::kNumPrograms>(const Arguments& arguments) {
  return along_axis(arguments, ir::Opcode::kNumPrograms);
}

template <>
Value handle<FunctionId::kArange>(const Arguments& arguments) {
  Context& context = arguments.context();
  int64_t start = arguments.integer("start"), end = arguments.integer("end");
  if (end <= start)
    context.fail(DiagnosticId::kArangeBounds, {std::to_string(start), std::to_string(end)});
  int64_t shape[] = {end - start};
  check_shape(context, shape);
  if (start < INT32_MIN || end - 1 > INT32_MAX)
    context.fail(DiagnosticId::kArangeBounds, {std::to_string(start), std::to_string(end)});
  return Value::runtime(context.builder.create_typed(ir::Opcode::kArange, {},
                                                     ir::Type::number(DType::kInt32, shape),
                                                     {{ir::AttributeName::kStart, start}}));
}

template <>
Value handle<FunctionId::kFull>(const Arguments& arguments) {
  std::vector<int64_t> shape = arguments.shape("shape");
  const Value& value = arguments.value("value");
  if (!shape_of(value).empty())
    arguments.context().fail(DiagnosticId::kWrongArgument,
                             {arguments.quoted(), "value", "a scalar", describe(value)});
  return Value::runtime(converted_argument(arguments, "value", arguments.dtype("dtype"), shape));
}

template <>
Value handle<FunctionId::kStaticAssert>(const Arguments& arguments) {
  Context& context = arguments.context();
  const Value& condition = arguments.value("cond");
  if (!condition.is_constant()) arguments.fail_constant_needed("cond");
  if (truth(context, condition)) return Value::none();
  const Value& message = arguments.value("msg");
  std::string text = message.is_constant() ? nb::cast<std::string>(nb::str(message.object)) : "";
  if (text.empty()) text = "the condition is false";
  context.fail(DiagnosticId::kStaticAssertion, {text});
}

template <>
Value handle<FunctionId::kStaticPrint>(const Arguments& arguments) {
  nb::list values;
  for (const CallArgument& argument : arguments.rest()) {
    if (argument.value.is_constant())
      values.append(argument.value.object);
    else
      values.append(nb::str(describe(argument.value).c_str()));
  }
  nb::dict keywords;
  for (const char* name : {"sep", "end", "file", "flush"})
    keywords[name] = arguments.value(name).object;
  nb::tuple positional(values);
  PyObject* result = PyObject_Call(known().print.ptr(), positional.ptr(), keywords.ptr());
  if (!result) arguments.context().fail_in_python("`tl.static_print`");
  Py_DECREF(result);
  return Value::none();
}

template <>
Value handle<FunctionId::kMultipleOf>(const Arguments& arguments) {
  return hint(arguments, ir::HintKind::kMultipleOf);
}

template <>
Value handle<FunctionId::kMaxContiguous>(const Arguments& arguments) {
  return hint(arguments, ir::HintKind::kMaxContiguous);
}

template <>
Value handle<FunctionId::kMaxConstancy>(const Arguments& arguments) {
  return hint(arguments, ir::HintKind::kMaxConstancy);
}

template <>
Value handle<FunctionId::kAssume>(const Arguments& arguments) {
  Context& context = arguments.context();
  Value value = condition(context, arguments.value("cond"));
  if (value.is_constant()) {
    if (value.is_false()) context.fail(DiagnosticId::kStaticAssertion, {"`tl.assume` of False"});
    return Value::none();
  }
  context.builder.create(ir::Opcode::kAssume, {value.ssa});
  return Value::none();
}

template <>
Value handle<FunctionId::kDevicePrint>(const Arguments& arguments) {
  Context& context = arguments.context();
  std::vector<ir::Value*> values;
  for (const CallArgument& argument : arguments.rest())
    values.push_back(materialize(context, argument.value));
  std::vector<ir::Attribute> attributes = {{ir::AttributeName::kText, arguments.text("prefix")}};
  if (arguments.flag("hex")) attributes.push_back({ir::AttributeName::kHex, int64_t{1}});
  context.builder.create(ir::Opcode::kDevicePrint, values, {}, std::move(attributes));
  return Value::none();
}

template <>
Value handle<FunctionId::kDeviceAssert>(const Arguments& arguments) {
  Context& context = arguments.context();
  const Value& given = arguments.value("cond");
  ir::Value* condition = as_bool(context, arguments.number("cond"));
  std::vector<int64_t> shape(condition->type().shape().begin(), condition->type().shape().end());
  if (arguments.has("mask")) {
    shape = common_shape(context, shape, shape_of(arguments.value("mask")));
    condition = broadcast_to(context, condition, shape);
  }
  ir::Value* mask = mask_argument(arguments, shape);
  std::string text = arguments.text("msg");
  // Without the debug option an assertion costs nothing, but it is checked all the same.
  if (!context.builder.function().options().debug || given.is_true()) return Value::none();
  ir::Value* operands[] = {condition, mask};
  context.builder.create(ir::Opcode::kDeviceAssert,
                         std::span<ir::Value* const>(operands, mask ? 2 : 1), {},
                         {{ir::AttributeName::kText, text}});
  return Value::none();
}

template <>
Value handle<FunctionId::kDebugBarrier>(const Arguments& arguments) {
  arguments.context().builder.create(ir::Opcode::kDebugBarrier, std::span<ir::Value* const>(), {});
  return Value::none();
}

template <>
Value handle<FunctionId::kRange>(const Arguments& arguments) {
  arguments.context().fail(DiagnosticId::kRangeOutsideFor);
}

template <>
Value handle<FunctionId::kStaticRange>(const Arguments& arguments) {
  arguments.context().fail(DiagnosticId::kRangeOutsideFor);
}

ir::Value* mask_argument(const Arguments& arguments, std::span<const int64_t> shape) {
  Context& context = arguments.context();
  const Value& mask = arguments.value("mask");
  if (mask.is_none() || mask.is_true()) return nullptr;
  if (mask.is_false()) return context.builder.integer(ir::Type::number(DType::kInt1, shape), 0);
  if (!mask.is_runtime() || !mask.type().is_bool())
    context.fail(DiagnosticId::kMaskType, {arguments.quoted(), describe(mask)});
  return broadcast_to(context, mask.ssa, shape);
}

ir::Value* converted_argument(const Arguments& arguments, std::string_view name, DType dtype,
                              std::span<const int64_t> shape) {
  Context& context = arguments.context();
  const Value& value = arguments.value(name);
  if (!is_number(context, value))
    context.fail(DiagnosticId::kWrongArgument, {arguments.quoted(), std::string(name),
                                                "a number or a tile of numbers", describe(value)});
  if (value.is_constant()) return materialize_as(context, value, dtype, shape);
  return broadcast_to(context, context.builder.cast(value.ssa, dtype), shape);
}

int checked_axis(const Arguments& arguments, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    arguments.context().fail(DiagnosticId::kAxisOutOfRange,
                             {arguments.quoted(), std::to_string(axis), std::to_string(rank)});
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Value call_function(FunctionId id, const Arguments& arguments) {
  switch (id) {
#define FUNCTION(name, ...) \
  case FunctionId::k##name: \
    return handle<FunctionId::k##name>(arguments);
#include "frontend/functions.def"
#undef FUNCTION
  }
  return Value::none();
}

}  // namespace enceladus::frontend
