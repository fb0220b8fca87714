#include "frontend/frontend.h"

#include "frontend/names.h"
#include "frontend/statements.h"

namespace enceladus::frontend {
namespace {

const ArgumentSpec* find_argument(std::span<const ArgumentSpec> arguments, size_t hint,
                                  const std::string& name) {
  if (hint < arguments.size() && arguments[hint].name == name) return &arguments[hint];
  for (const ArgumentSpec& argument : arguments)
    if (argument.name == name) return &argument;
  return nullptr;
}

Value runtime_parameter(Context& context, const ArgumentSpec& argument) {
  bool is_pointer = argument.kind == ArgumentSpec::Kind::kPointer;
  ir::Type type = is_pointer ? ir::Type::pointer(argument.dtype) : ir::Type::number(argument.dtype);
  ir::Value* value =
      context.builder.function().append_parameter({.name = argument.name,
                                                   .type = type,
                                                   .divisible_by_16 = argument.divisible_by_16,
                                                   .equal_to_1 = argument.equal_to_1,
                                                   .aligned_16 = argument.aligned_16});
  // The parameter stays in the signature; the body may know its value.
  if (argument.equal_to_1) value = context.builder.integer(type, 1);
  return Value::runtime(value);
}

void bind_parameters(Context& context, std::span<const ArgumentSpec> arguments) {
  const ParsedFunction& function = *context.frame->function;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const ParsedParameter& parameter = function.parameters[i];
    Variable& variable = context.state().variables[static_cast<size_t>(parameter.slot)];
    variable.assigned = function.location;
    const ArgumentSpec* argument = find_argument(arguments, i, parameter.name);
    if (!argument) {
      if (!parameter.default_value.is_valid())
        context.fail_at(function.location, DiagnosticId::kMissingArgument,
                        {"`" + function.name + "`", parameter.name});
      variable.value = Value::constant(parameter.default_value);
      continue;
    }
    if (argument->kind == ArgumentSpec::Kind::kConstexpr) {
      variable.value = Value::constant(argument->value);
      continue;
    }
    if (parameter.is_constexpr)
      context.fail_at(function.location, DiagnosticId::kConstexprParameter,
                      {parameter.name, function.name, "a run-time value"});
    variable.value = runtime_parameter(context, *argument);
  }
}

}  // namespace

FrontendResult build_function(nb::handle jit_function, std::span<const ArgumentSpec> arguments,
                              const ir::FunctionOptions& options) {
  const ParsedFunction& parsed = parsed_function(jit_function);
  FrontendResult result;
  result.function = std::make_unique<ir::Function>(parsed.name, parsed.location);
  result.function->options() = options;
  Context context(*result.function, result.dependencies);
  Frame frame;
  frame.function = &parsed;
  frame.state.variables.resize(parsed.slots.size());
  context.frame = &frame;
  context.builder.set_location(parsed.location);
  bind_parameters(context, arguments);
  try {
    run_block(context, parsed.body, true);
  } catch (const CompilationFailure& failure) {
    context.collect(failure);
  } catch (const AlreadyReported&) {
    // Its error is among the collected ones.
  }
  context.throw_collected();
  return result;
}

}  // namespace enceladus::frontend
