// Calls of `@jit` functions: binding to parameters and inlining (declared in frontend/calls.h).
#include "frontend/calls.h"
#include "frontend/statements.h"

namespace enceladus::frontend {
namespace {

constexpr int kMaxDepth = 100;

size_t position_of(Context& context, const ParsedFunction& function, std::string_view name) {
  std::vector<std::string> candidates;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    if (function.parameters[i].name == name) return i;
    candidates.push_back(function.parameters[i].name);
  }
  std::string best = closest(name, candidates);
  context.fail(DiagnosticId::kUnknownKeyword,
               {"`" + function.name + "`", std::string(name),
                best.empty() ? "look at its definition" : "did you mean `" + best + "`?"});
}

std::string signature_of(const ParsedFunction& function) {
  std::string text = function.name + "(";
  for (const ParsedParameter& parameter : function.parameters)
    text += (text.back() == '(' ? "" : ", ") + parameter.name;
  return text + ")";
}

std::vector<Value> bind(Context& context, const ParsedFunction& function,
                        const CallArguments& given) {
  const std::vector<ParsedParameter>& parameters = function.parameters;
  std::vector<Value> values(parameters.size());
  size_t next = 0;
  for (const CallArgument& argument : given.positional) {
    if (next >= values.size() || parameters[next].keyword_only)
      context.fail(DiagnosticId::kTooManyArguments,
                   {"`" + function.name + "`", std::to_string(values.size()),
                    std::to_string(given.positional.size()), signature_of(function)});
    values[next++] = argument.value;
  }
  for (const auto& [key, argument] : given.keywords) {
    std::string_view name = nb::cast<std::string_view>(key);
    Value& value = values[position_of(context, function, name)];
    if (!value.is(Value::Kind::kUndefined))
      context.fail(DiagnosticId::kArgumentTwice, {"`" + function.name + "`", std::string(name)});
    value = argument.value;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const ParsedParameter& parameter = parameters[i];
    if (values[i].is(Value::Kind::kUndefined)) {
      if (!parameter.default_value.is_valid())
        context.fail(DiagnosticId::kMissingArgument, {"`" + function.name + "`", parameter.name});
      values[i] = Value::constant(parameter.default_value);
    }
  }
  return values;
}

bool is_same_place(const Location& a, const Location& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column &&
         a.end_column == b.end_column;
}

bool mentions(const Node* node, int32_t slot) {
  if (!node) return false;
  if (node->kind == NodeKind::kName) return node->slot == slot;
  for (const Node* child : {node->first, node->second, node->third})
    if (mentions(child, slot)) return true;
  for (const auto* list : {&node->items, &node->more})
    for (const Node* child : *list)
      if (mentions(child, slot)) return true;
  return false;
}

// As in Triton, a `tl.constexpr` parameter of a helper takes run-time values too, which is fine
// until a constant is needed. Where the expression that needs one reads such a parameter, the
// mistake is in the call: the error moves there.
void blame_call(Context& context, const Frame& frame, const std::vector<Value>& arguments,
                const Diagnostic& diagnostic) {
  if (diagnostic.id != DiagnosticId::kConstantNeeded) return;
  const ParsedFunction& function = *frame.function;
  for (const Node& node : function.nodes) {
    if (!is_same_place(node.location, diagnostic.location)) continue;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const ParsedParameter& parameter = function.parameters[i];
      bool runtime = parameter.is_constexpr && arguments[i].is_runtime();
      if (!runtime || !mentions(&node, parameter.slot)) continue;
      Diagnostic moved = make_diagnostic(DiagnosticId::kConstexprParameter, frame.called_from,
                                         {parameter.name, function.name, describe(arguments[i])});
      moved.notes.push_back({diagnostic.location, diagnostic.message});
      context.frame = frame.caller;
      context.fail(std::move(moved));
    }
  }
}

void check_recursion(Context& context, const ParsedFunction& function) {
  int depth = 0;
  for (const Frame* frame = context.frame; frame; frame = frame->caller, ++depth)
    if (frame->function == &function) context.fail(DiagnosticId::kRecursion, {function.name});
  if (depth > kMaxDepth)
    context.fail(DiagnosticId::kHelperDepth, {function.name, std::to_string(kMaxDepth)});
}

Value result_of(Context& context, const Frame& frame) {
  const State& state = frame.state;
  if (state.result.is(Value::Kind::kUndefined)) return Value::none();
  if (state.result.is(Value::Kind::kUnusable)) {
    const Unusable& reason = state.result.reason();
    context.fail(DiagnosticId::kReturnTypes,
                 {frame.function->name, reason.values[1], reason.values[2]});
  }
  if (!state.dead && !state.result.is_none())
    context.fail(DiagnosticId::kMissingReturn, {frame.function->name, describe(state.result)});
  return state.result;
}

}  // namespace

Value inline_function(Context& context, nb::handle object, const CallArguments& arguments,
                      const Node& node) {
  const ParsedFunction& function = parsed_function(object);
  check_recursion(context, function);
  std::vector<Value> values = bind(context, function, arguments);
  Frame frame;
  frame.function = &function;
  frame.caller = context.frame;
  frame.called_from = context.place_of(node);
  frame.call_site = function.is_library ? context.frame->call_site
                                        : context.builder.function().append_call_site(
                                              {frame.called_from, context.frame->call_site});
  frame.state.variables.resize(function.slots.size());
  for (size_t i = 0; i < values.size(); ++i)
    frame.state.variables[static_cast<size_t>(function.parameters[i].slot)] = {values[i],
                                                                               frame.called_from};
  context.frame = &frame;
  try {
    run_block(context, function.body, true);
  } catch (const CompilationFailure& failure) {
    blame_call(context, frame, values, failure.diagnostics().front());
    throw;
  }
  context.frame = frame.caller;
  context.at(node);
  return result_of(context, frame);
}

}  // namespace enceladus::frontend
