#include "frontend/evaluate.h"

#include "frontend/arithmetic.h"
#include "frontend/calls.h"
#include "frontend/statements.h"
#include "support/check.h"

namespace enceladus::frontend {
namespace {

Value sequence(Context& context, const Node& node) {
  std::vector<Value> elements;
  for (const Node* item : node.items) {
    if (item->kind != NodeKind::kStarred) {
      elements.push_back(evaluate(context, *item));
      continue;
    }
    std::optional<std::vector<Value>> more = elements_of(evaluate(context, *item->first));
    if (!more) context.fail_at(*item, DiagnosticId::kNotATuple, {"the starred value"});
    elements.insert(elements.end(), more->begin(), more->end());
  }
  return Value::tuple(std::move(elements));
}

Value binary_operation(Context& context, const Node& node) {
  Value left = evaluate(context, *node.first);
  Value right = evaluate(context, *node.second);
  context.at(node);
  return binary(context, node.op, left, right);
}

Value unary_operation(Context& context, const Node& node) {
  Value operand = evaluate(context, *node.first);
  context.at(node);
  return unary(context, node.op, operand);
}

Value named_expression(Context& context, const Node& node) {
  Value value = evaluate(context, *node.second);
  assign(context, *node.first, value);
  return value;
}

}  // namespace

Value evaluate(Context& context, const Node& node) {
  switch (node.kind) {
    case NodeKind::kConstant:
      return Value::constant(node.object);
    case NodeKind::kName:
      return read_name(context, node);
    case NodeKind::kAttribute:
      return read_attribute(context, node);
    case NodeKind::kSubscript:
      return read_subscript(context, node);
    case NodeKind::kTuple:
    case NodeKind::kList:
      return sequence(context, node);
    case NodeKind::kCall:
      return call(context, node);
    case NodeKind::kBinaryOperation:
      return binary_operation(context, node);
    case NodeKind::kUnaryOperation:
      return unary_operation(context, node);
    case NodeKind::kBooleanOperation:
      return boolean_operation(context, node);
    case NodeKind::kComparison:
      return comparison(context, node);
    case NodeKind::kConditional:
      return conditional(context, node);
    case NodeKind::kNamedExpression:
      return named_expression(context, node);
    case NodeKind::kFormattedString:
      return formatted_string(context, node);
    case NodeKind::kListComprehension:
    case NodeKind::kGeneratorExpression:
      return comprehension(context, node);
    case NodeKind::kSlice:
    case NodeKind::kStarred:
    case NodeKind::kKeyword:
    case NodeKind::kFormattedValue:
    case NodeKind::kGenerator:
    case NodeKind::kAssign:
    case NodeKind::kAugAssign:
    case NodeKind::kAnnAssign:
    case NodeKind::kExpressionStatement:
    case NodeKind::kIf:
    case NodeKind::kFor:
    case NodeKind::kWhile:
    case NodeKind::kReturn:
    case NodeKind::kAssert:
    case NodeKind::kPass:
    case NodeKind::kBreak:
    case NodeKind::kContinue:
    case NodeKind::kUnsupported:
      break;
  }
  refuse(context, node);
}

Value evaluate_condition(Context& context, const Node& node) {
  Value value = evaluate(context, node);
  context.at(node);
  return condition(context, value);
}

Value formatted_string(Context& context, const Node& node) {
  std::string result;
  for (const Node* part : node.items) {
    bool plain = part->kind == NodeKind::kConstant;
    Value value = evaluate(context, plain ? *part : *part->first);
    context.at(*part);
    if (!value.is_constant())
      context.fail(DiagnosticId::kRuntimeInFormattedString, {describe(value)});
    if (plain) {
      result += nb::cast<std::string>(value.object);
      continue;
    }
    nb::object object = value.object;
    if (part->conversion == 'r') object = nb::steal(PyObject_Repr(object.ptr()));
    if (part->conversion == 's') object = nb::steal(PyObject_Str(object.ptr()));
    if (part->conversion == 'a') object = nb::steal(PyObject_ASCII(object.ptr()));
    nb::object format;
    if (part->second) format = evaluate(context, *part->second).object;
    PyObject* text = object.is_valid() ? PyObject_Format(object.ptr(), format.ptr()) : nullptr;
    if (!text) context.fail_in_python("the f-string");
    result += nb::cast<std::string>(nb::steal(text));
  }
  return Value::constant(nb::str(result.c_str(), result.size()));
}

Value comprehension(Context& context, const Node& node) {
  const Node& generator = *node.items.front();
  Value iterable = evaluate(context, *generator.second);
  std::optional<std::vector<Value>> items = iterable_elements(context, iterable);
  context.at(node);
  if (!items || node.items.size() > 1)
    context.fail(DiagnosticId::kRuntimeComprehension, {describe(iterable)});
  std::vector<Variable> outer = context.state().variables;
  std::vector<Value> result;
  for (const Value& item : *items) {
    assign(context, *generator.first, item);
    bool kept = true;
    for (const Node* filter : generator.items) {
      Value value = evaluate_condition(context, *filter);
      if (!value.is_constant())
        context.fail_at(*filter, DiagnosticId::kConstantNeeded,
                        {"a comprehension", "its condition"});
      kept = kept && value.is_true();
    }
    if (kept) result.push_back(evaluate(context, *node.first));
  }
  context.state().variables = std::move(outer);
  return Value::tuple(std::move(result));
}

}  // namespace enceladus::frontend
