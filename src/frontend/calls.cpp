#include "frontend/calls.h"

#include "frontend/evaluate.h"
#include "frontend/literals.h"
#include "frontend/names.h"
#include "frontend/statements.h"

namespace enceladus::frontend {
namespace {

bool is_jit_function(nb::handle object) {
  int result = PyObject_IsInstance(object.ptr(), known().jit_class.ptr());
  if (result < 0) PyErr_Clear();
  return result == 1;
}

bool is_helper(nb::handle object) {
  if (!PyFunction_Check(object.ptr())) return false;
  if (PyObject_HasAttr(object.ptr(), names().enc_helper)) return true;
  return false;
}

// What a plain Python function reads is part of what the kernel depends on.
void depend_on_function(Context& context, nb::handle function, int depth) {
  if (!PyFunction_Check(function.ptr()) || depth > 8) return;
  nb::object globals = function.attr("__globals__");
  for (nb::handle name : function.attr("__code__").attr("co_names")) {
    PyObject* found = PyDict_GetItemWithError(globals.ptr(), name.ptr());
    if (!found) continue;
    nb::object value = nb::borrow(found);
    if (PyModule_Check(value.ptr())) continue;
    context.depend_on(globals, nb::cast<std::string_view>(name), value);
    if (!value.is(function)) depend_on_function(context, value, depth + 1);
  }
}

std::string name_of_callee(nb::handle callee) {
  if (nb::hasattr(callee, "__name__")) return nb::cast<std::string>(callee.attr("__name__"));
  return nb::cast<std::string>(nb::repr(callee));
}

void check_constant(Context& context, const std::string& name, const Value& value) {
  if (value.is_constant()) return;
  bool in_language = nb::hasattr(known().language, name.c_str());
  context.fail(DiagnosticId::kRuntimeToPython,
               {name, describe(value),
                in_language ? "use `tl." + name + "`" : "decorate it with `@enceladus.jit`"});
}

// A plain Python callable on compile-time values.
Value call_python(Context& context, nb::handle callee, const CallArguments& arguments) {
  std::string name = name_of_callee(callee);
  for (const CallArgument& argument : arguments.positional)
    check_constant(context, name, argument.value);
  for (const auto& [key, argument] : arguments.keywords)
    check_constant(context, name, argument.value);
  depend_on_function(context, callee, 0);
  nb::list positional;
  for (const CallArgument& argument : arguments.positional)
    positional.append(argument.value.object);
  nb::dict keywords;
  for (const auto& [key, argument] : arguments.keywords) keywords[key] = argument.value.object;
  nb::tuple values(positional);
  PyObject* result = PyObject_Call(callee.ptr(), values.ptr(), keywords.ptr());
  if (!result) context.fail_in_python("the call of `" + name + "`");
  return Value::constant(nb::steal(result));
}

// A method of a run-time value: the value goes in front of the arguments.
Value call_method(Context& context, const Node& node, const Value& self) {
  std::string_view name = nb::cast<std::string_view>(node.first->object);
  CallArguments arguments = evaluate_arguments(context, node);
  arguments.positional.insert(arguments.positional.begin(), {self, node.first->first});
  context.at(node);
  std::optional<FunctionId> id = self.is_descriptor() ? descriptor_method(name) : tile_method(name);
  if (id) return call_function(*id, Arguments(context, function_record(*id), arguments, node));
  nb::object helper = self.is_descriptor() ? nb::object() : helper_method(name);
  if (helper.is_valid()) return inline_function(context, helper, arguments, node);
  std::string best = closest(name, method_names(self.is_descriptor()));
  context.fail(DiagnosticId::kUnknownMethod,
               {describe(self), std::string(name),
                best.empty() ? "the methods are listed in the reference of `tl`"
                             : "did you mean `" + best + "`?"});
}

}  // namespace

CallArguments evaluate_arguments(Context& context, const Node& node) {
  CallArguments result;
  for (const Node* item : node.items) {
    if (item->kind != NodeKind::kStarred) {
      result.positional.push_back({evaluate(context, *item), item});
      continue;
    }
    Value value = evaluate(context, *item->first);
    std::optional<std::vector<Value>> elements = elements_of(value);
    if (!elements) context.fail_at(*item, DiagnosticId::kStarredArgument, {describe(value)});
    for (Value& element : *elements) result.positional.push_back({std::move(element), item});
  }
  for (const Node* item : node.more) {
    if (item->object.is_none()) context.fail_at(*item->first, DiagnosticId::kDoubleStarredArgument);
    result.keywords.emplace_back(item->object,
                                 CallArgument{evaluate(context, *item->first), item->first});
  }
  return result;
}

Value call(Context& context, const Node& node) {
  Value callee;
  if (node.first->kind == NodeKind::kAttribute) {
    Value base = evaluate(context, *node.first->first);
    if (base.is_runtime() || base.is_descriptor()) return call_method(context, node, base);
    context.at(*node.first);
    callee = attribute_of(context, base, node.first->object);
  } else {
    callee = evaluate(context, *node.first);
  }
  CallArguments arguments = evaluate_arguments(context, node);
  context.at(node);
  return call_object(context, callee, arguments, node);
}

Value call_object(Context& context, const Value& callee, const CallArguments& arguments,
                  const Node& node) {
  if (!callee.is_constant()) context.fail(DiagnosticId::kNotCallable, {describe(callee)});
  nb::handle object = callee.object;
  if (std::optional<FunctionId> id = function_of(object)) {
    for (const Node* item : node.items)
      if (item->kind == NodeKind::kStarred && !function_record(*id).parameters.empty())
        context.fail_at(*item, DiagnosticId::kStarredToBuiltin, {function_record(*id).name});
    return call_function(*id, Arguments(context, function_record(*id), arguments, node));
  }
  if (is_jit_function(object) || is_helper(object))
    return inline_function(context, object, arguments, node);
  if (std::optional<Value> result = call_python_builtin(context, object, arguments)) return *result;
  if (!PyCallable_Check(object.ptr())) context.fail(DiagnosticId::kNotCallable, {describe(callee)});
  return call_python(context, object, arguments);
}

}  // namespace enceladus::frontend
