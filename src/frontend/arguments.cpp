// Binding a call's arguments to a `tl` function's parameters (declared in frontend/functions.h).
#include "frontend/functions.h"
#include "frontend/literals.h"
#include "frontend/names.h"
#include "frontend/promotion.h"
#include "support/check.h"

namespace enceladus::frontend {
namespace {

std::vector<std::string> parameter_names(const FunctionRecord& record) {
  std::vector<std::string> result;
  for (const FunctionParameter& parameter : record.parameters) result.push_back(parameter.name);
  return result;
}

// `; did you mean `x`?` or what there is.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best = closest(name, candidates);
  if (!best.empty()) return "did you mean `" + best + "`?";
  std::string list;
  for (const std::string& candidate : candidates)
    list += (list.empty() ? "`" : ", `") + candidate + "`";
  return list.empty() ? "it takes no arguments" : "it takes " + list;
}

}  // namespace

Arguments::Arguments(Context& context, const FunctionRecord& record, const CallArguments& given,
                     const Node& node)
    : context_(context), record_(record), node_(node), values_(record.parameters.size()) {
  bind_positional(given);
  bind_keywords(given);
  for (size_t i = 0; i < values_.size(); ++i) {
    const FunctionParameter& parameter = record_.parameters[i];
    if (!values_[i].is(Value::Kind::kUndefined) || parameter.variadic) continue;
    if (!parameter.has_default)
      context_.fail(DiagnosticId::kMissingArgument, {quoted(), parameter.name});
    values_[i] = parameter.default_value;
  }
}

void Arguments::bind_positional(const CallArguments& given) {
  size_t next = 0;
  for (const CallArgument& argument : given.positional) {
    bool fits = next < values_.size() && !record_.parameters[next].keyword_only;
    if (!fits)
      context_.fail(DiagnosticId::kTooManyArguments,
                    {quoted(), std::to_string(values_.size()),
                     std::to_string(given.positional.size()), std::string(record_.signature)});
    if (record_.parameters[next].variadic)
      rest_.push_back(argument);
    else
      values_[next++] = argument.value;
  }
}

void Arguments::bind_keywords(const CallArguments& given) {
  for (const auto& [name, argument] : given.keywords) {
    std::string_view text = nb::cast<std::string_view>(name);
    size_t index = 0;
    while (index < values_.size() && record_.parameters[index].name != text) ++index;
    if (index == values_.size())
      context_.fail(DiagnosticId::kUnknownKeyword,
                    {quoted(), std::string(text), suggestion(text, parameter_names(record_))});
    bool given_twice = !values_[index].is(Value::Kind::kUndefined) || !rest_.empty();
    if (record_.parameters[index].variadic && !given_twice) {
      rest_.push_back(argument);
      continue;
    }
    if (!values_[index].is(Value::Kind::kUndefined))
      context_.fail(DiagnosticId::kArgumentTwice, {quoted(), std::string(text)});
    values_[index] = argument.value;
  }
}

size_t Arguments::index_of(std::string_view name) const {
  for (size_t i = 0; i < values_.size(); ++i)
    if (record_.parameters[i].name == name) return i;
  ENC_CHECK(false, "no parameter `" + std::string(name) + "` of " + record_.name);
  return 0;
}

const Value& Arguments::value(std::string_view name) const { return values_[index_of(name)]; }

void Arguments::fail_constant_needed(std::string_view name) const {
  context_.fail(DiagnosticId::kConstantNeeded, {quoted(), "`" + std::string(name) + "`"});
}

int64_t Arguments::integer(std::string_view name) const {
  const Value& given = value(name);
  std::optional<int64_t> result = constant_int(given);
  if (result) return *result;
  if (!given.is_constant()) fail_constant_needed(name);
  context_.fail(DiagnosticId::kWrongArgument,
                {quoted(), std::string(name), "an int", describe(given)});
}

int64_t Arguments::integer_or(std::string_view name, int64_t otherwise) const {
  return has(name) ? integer(name) : otherwise;
}

bool Arguments::flag(std::string_view name) const {
  const Value& given = value(name);
  if (!given.is_constant()) fail_constant_needed(name);
  return PyObject_IsTrue(given.object.ptr()) == 1;
}

std::string Arguments::text(std::string_view name) const {
  const Value& given = value(name);
  if (given.is_none()) return {};
  if (!given.is_constant()) fail_constant_needed(name);
  if (!PyUnicode_Check(given.object.ptr()))
    context_.fail(DiagnosticId::kWrongArgument,
                  {quoted(), std::string(name), "a string", describe(given)});
  return nb::cast<std::string>(given.object);
}

DType Arguments::dtype(std::string_view name) const {
  const Value& given = value(name);
  if (!given.is_constant()) fail_constant_needed(name);
  std::optional<DType> result = dtype_of_object(given.object);
  if (!result)
    context_.fail(DiagnosticId::kWrongArgument,
                  {quoted(), std::string(name), "a dtype such as `tl.float32`", describe(given)});
  return *result;
}

std::vector<int64_t> Arguments::integers(std::string_view name) const {
  const Value& given = value(name);
  if (std::optional<int64_t> one = constant_int(given)) return {*one};
  std::optional<std::vector<Value>> elements = elements_of(given);
  if (!elements && !given.is_constant()) fail_constant_needed(name);
  if (!elements)
    context_.fail(DiagnosticId::kWrongArgument,
                  {quoted(), std::string(name), "a tuple of ints", describe(given)});
  std::vector<int64_t> result;
  for (const Value& element : *elements) {
    std::optional<int64_t> integer = constant_int(element);
    if (!integer && !element.is_constant()) fail_constant_needed(name);
    if (!integer)
      context_.fail(DiagnosticId::kWrongArgument,
                    {quoted(), std::string(name), "a tuple of ints", describe(element)});
    result.push_back(*integer);
  }
  return result;
}

std::vector<int64_t> Arguments::shape(std::string_view name) const {
  std::vector<int64_t> result = integers(name);
  check_shape(context_, result);
  return result;
}

std::vector<int64_t> Arguments::rest_integers() const {
  std::string name;
  for (const FunctionParameter& parameter : record_.parameters)
    if (parameter.variadic) name = parameter.name;
  std::vector<Value> elements;
  for (const CallArgument& argument : rest_) {
    std::optional<std::vector<Value>> inner = elements_of(argument.value);
    if (inner && rest_.size() == 1)
      elements = *inner;
    else
      elements.push_back(argument.value);
  }
  std::vector<int64_t> result;
  for (const Value& element : elements) {
    std::optional<int64_t> integer = constant_int(element);
    if (!integer && !element.is_constant()) fail_constant_needed(name);
    if (!integer)
      context_.fail(DiagnosticId::kWrongArgument, {quoted(), name, "ints", describe(element)});
    result.push_back(*integer);
  }
  return result;
}

ir::Value* Arguments::number(std::string_view name) const {
  const Value& given = value(name);
  if (!is_number(context_, given))
    context_.fail(DiagnosticId::kWrongArgument,
                  {quoted(), std::string(name), "a number or a tile of numbers", describe(given)});
  return materialize(context_, given);
}

ir::Value* Arguments::tile(std::string_view name) const {
  const Value& given = value(name);
  if (!given.is_runtime() || given.type().rank() == 0)
    context_.fail(DiagnosticId::kWrongArgument,
                  {quoted(), std::string(name), "a tile", describe(given)});
  return given.ssa;
}

ir::Value* Arguments::pointer(std::string_view name) const {
  const Value& given = value(name);
  if (!given.is_runtime() || !given.type().is_pointer())
    context_.fail(DiagnosticId::kPointerNeeded, {quoted(), describe(given)});
  return given.ssa;
}

const Value& Arguments::descriptor(std::string_view name) const {
  const Value& given = value(name);
  if (!given.is_descriptor())
    context_.fail(DiagnosticId::kWrongArgument,
                  {quoted(), std::string(name), "a tensor descriptor", describe(given)});
  return given;
}

void check_shape(Context& context, std::span<const int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape) {
    bool power = extent > 0 && (extent & (extent - 1)) == 0;
    if (!power) {
      int64_t next = 1;
      while (next < extent) next *= 2;
      context.fail(DiagnosticId::kNotPowerOfTwo, {std::to_string(extent), std::to_string(next)});
    }
    if (extent > ir::kMaxExtent)
      context.fail(DiagnosticId::kExtentTooLarge, {std::to_string(extent)});
    elements *= extent;
    if (elements > ir::kMaxElements) context.fail(DiagnosticId::kTileTooLarge, {shape_text(shape)});
  }
  if (shape.size() > static_cast<size_t>(ir::kMaxRank))
    context.fail(DiagnosticId::kRankTooLarge, {std::to_string(shape.size())});
}

}  // namespace enceladus::frontend
