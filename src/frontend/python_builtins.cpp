// Python's own functions on run-time values (declared in frontend/calls.h). On compile-time values
// they are Python's.
#include "frontend/arithmetic.h"
#include "frontend/calls.h"
#include "frontend/literals.h"
#include "frontend/names.h"
#include "frontend/promotion.h"

namespace enceladus::frontend {
namespace {

bool any_runtime(const CallArguments& arguments) {
  for (const CallArgument& argument : arguments.positional)
    if (!argument.value.is_constant()) return true;
  return false;
}

void check_scalar(Context& context, const Value& value, const char* name, const char* instead) {
  if (is_number(context, value) && shape_of(value).empty()) return;
  context.fail(DiagnosticId::kBuiltinOnTile, {name, describe(value), instead});
}

// Python's rule: `max(a, b)` is b where b > a, else a. It matters for NaN.
Value extremum(Context& context, const CallArguments& arguments, bool is_max) {
  const char* name = is_max ? "max" : "min";
  const char* instead = is_max ? "tl.maximum" : "tl.minimum";
  std::vector<Value> items;
  for (const CallArgument& argument : arguments.positional) items.push_back(argument.value);
  if (items.size() == 1)
    if (std::optional<std::vector<Value>> elements = elements_of(items[0])) items = *elements;
  if (items.size() < 2) check_scalar(context, Value::none(), name, instead);
  for (const Value& item : items) check_scalar(context, item, name, instead);
  Value best = items[0];
  for (size_t i = 1; i < items.size(); ++i) {
    if (best.is_constant() && items[i].is_constant()) {
      Value better =
          compare(context, is_max ? Operator::kGreater : Operator::kLess, items[i], best);
      if (better.is_true()) best = items[i];
      continue;
    }
    Operands pair = promote(context, items[i], best, OperandRule::kOrdered, name);
    ir::Opcode compare_op = is_max ? ir::Opcode::kGt : ir::Opcode::kLt;
    ir::Opcode direct = is_max ? ir::Opcode::kMax : ir::Opcode::kMin;
    if (!is_float(pair.dtype)) {
      best = emit(context, direct, {pair.a, pair.b});
      continue;
    }
    ir::Value* better = context.builder.create(compare_op, {pair.a, pair.b});
    best = emit(context, ir::Opcode::kSelect, {pair.a, pair.b, better});
  }
  return best;
}

Value absolute(Context& context, const CallArguments& arguments) {
  const Value& value = arguments.positional[0].value;
  if (!is_number(context, value))
    context.fail(DiagnosticId::kBadOperand, {"`abs`", describe(value)});
  return emit(context, ir::Opcode::kAbs, {value.ssa});
}

Value length(Context& context, const Value& value) {
  if (value.is_tuple()) return Value::constant(nb::int_(value.elements().size()));
  if (value.is_runtime() && value.type().rank() > 0)
    return Value::constant(nb::int_(value.type().extent(0)));
  context.fail(DiagnosticId::kNotATuple, {describe(value)});
}

Value print(Context& context, const CallArguments& arguments) {
  bool has_prefix = !arguments.positional.empty() && arguments.positional[0].value.is_constant() &&
                    PyUnicode_Check(arguments.positional[0].value.object.ptr());
  if (!has_prefix || !arguments.keywords.empty()) context.fail(DiagnosticId::kPrint);
  std::string text = nb::cast<std::string>(arguments.positional[0].value.object) + " ";
  std::vector<ir::Value*> values;
  for (size_t i = 1; i < arguments.positional.size(); ++i)
    values.push_back(materialize(context, arguments.positional[i].value));
  context.builder.create(ir::Opcode::kDevicePrint, values, {}, {{ir::AttributeName::kText, text}});
  return Value::none();
}

Value is_instance(Context& context, const CallArguments& arguments) {
  const Value& value = arguments.positional[0].value;
  const nb::object& asked = value.is_descriptor() ? known().descriptor_class : known().tensor_class;
  const Value& type = arguments.positional[1].value;
  if (!type.is_constant())
    context.fail(DiagnosticId::kConstantNeeded, {"`isinstance`", "the type"});
  std::optional<std::vector<Value>> types = elements_of(type);
  if (!types) types = std::vector<Value>{type};
  bool result = false;
  for (const Value& one : *types) {
    bool is_tuple_type = one.object.is(nb::handle(reinterpret_cast<PyObject*>(&PyTuple_Type)));
    result |= value.is_tuple() ? is_tuple_type : one.object.is(asked);
  }
  return Value::boolean(result);
}

}  // namespace

std::optional<Value> call_python_builtin(Context& context, nb::handle callee,
                                         const CallArguments& arguments) {
  const KnownObjects& objects = known();
  if (callee.is(objects.print)) return print(context, arguments);
  if (!any_runtime(arguments)) return std::nullopt;
  size_t count = arguments.positional.size();
  if (callee.is(objects.min) || callee.is(objects.max))
    return extremum(context, arguments, callee.is(objects.max));
  if (callee.is(objects.abs) && count == 1) return absolute(context, arguments);
  if (callee.is(objects.len) && count == 1) return length(context, arguments.positional[0].value);
  if (callee.is(objects.isinstance) && count == 2) return is_instance(context, arguments);
  bool converts =
      callee.is(objects.int_type) || callee.is(objects.float_type) || callee.is(objects.bool_type);
  if (converts)
    context.fail(DiagnosticId::kPythonConversion, {nb::cast<std::string>(callee.attr("__name__")),
                                                   describe(arguments.positional[0].value),
                                                   callee.is(objects.int_type)     ? "int32"
                                                   : callee.is(objects.float_type) ? "float32"
                                                                                   : "int1"});
  if (callee.is(objects.range)) context.fail(DiagnosticId::kRangeOutsideFor);
  return std::nullopt;
}

}  // namespace enceladus::frontend
