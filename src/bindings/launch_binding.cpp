#include "bindings/launch_binding.h"

#include "bindings/launch_errors.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

int find_parameter(const KernelState& kernel, PyObject* keyword) {
  const auto& parameters = kernel.parameters;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name.ptr() == keyword) return static_cast<int>(i);
  // Keywords in a program's text are interned like our names; others are compared by their text.
  if (PyUnicode_CHECK_INTERNED(keyword)) return -1;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (PyUnicode_Compare(parameters[i].name.ptr(), keyword) == 0) return static_cast<int>(i);
  return -1;
}

[[noreturn]] void refuse_keyword(const KernelState& kernel, PyObject* keyword) {
  std::vector<std::string> known = option_names();
  for (const KernelParameter& parameter : kernel.parameters)
    if (!parameter.positional_only) known.push_back(parameter.text);
  std::string name = text_of(keyword);
  raise(PyExc_TypeError, kernel.name + "() got an unexpected keyword argument '" + name + "'." +
                             suggestion(name, known));
}

void bind_keyword(const KernelState& kernel, PyObject* keyword, PyObject* value, BoundCall& bound) {
  int index = find_parameter(kernel, keyword);
  if (index < 0) {
    int option = find_option(keyword);
    if (option < 0) refuse_keyword(kernel, keyword);
    return set_option(bound.options, option, value, kernel.name);
  }
  const KernelParameter& parameter = kernel.parameters[static_cast<size_t>(index)];
  if (parameter.positional_only)
    raise(PyExc_TypeError, kernel.name + "() got a positional-only argument passed as keyword: '" +
                               parameter.text + "'");
  PyObject*& slot = bound.values[index];
  if (slot != nullptr)
    raise(PyExc_TypeError,
          kernel.name + "() got multiple values for argument '" + parameter.text + "'");
  slot = value;
}

size_t bind_positional(const KernelState& kernel, const CallArguments& call, BoundCall& bound) {
  size_t taken = 0;
  for (; taken < call.positional && taken < bound.count; ++taken) {
    if (kernel.parameters[taken].keyword_only) break;
    bound.values[taken] = call.values[taken];
  }
  return taken;
}

[[noreturn]] void refuse_positional(const KernelState& kernel, size_t given) {
  size_t most = 0;
  for (const KernelParameter& parameter : kernel.parameters) most += !parameter.keyword_only;
  raise(PyExc_TypeError, kernel.name + "() takes " + std::to_string(most) + " positional argument" +
                             (most == 1 ? "" : "s") + " but " + std::to_string(given) +
                             (given == 1 ? " was" : " were") + " given");
}

// 'a', 'b' and 'c', as Python lists them.
std::string listed(const std::vector<std::string>& names) {
  std::string result;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) result += i + 1 < names.size() ? ", " : (names.size() > 2 ? ", and " : " and ");
    result += "'" + names[i] + "'";
  }
  return result;
}

[[noreturn]] void refuse_missing(const KernelState& kernel, const BoundCall& bound) {
  std::vector<std::string> names;
  bool only_constexpr = true;
  for (size_t i = 0; i < bound.count; ++i) {
    if (bound.values[i] != nullptr) continue;
    names.push_back(kernel.parameters[i].text);
    only_constexpr = only_constexpr && kernel.parameters[i].is_constexpr;
  }
  raise(PyExc_TypeError, kernel.name + "() missing " + std::to_string(names.size()) + " required " +
                             (only_constexpr ? "constexpr " : "") + "argument" +
                             (names.size() == 1 ? ": " : "s: ") + listed(names));
}

}  // namespace

void bind_call(const KernelState& kernel, const CallArguments& call, BoundCall& bound) {
  size_t taken = bind_positional(kernel, call, bound);
  if (taken < call.positional) refuse_positional(kernel, call.positional);
  if (call.keywords != nullptr) {
    Py_ssize_t count = PyTuple_GET_SIZE(call.keywords);
    for (Py_ssize_t i = 0; i < count; ++i)
      bind_keyword(kernel, PyTuple_GET_ITEM(call.keywords, i),
                   call.values[call.positional + static_cast<size_t>(i)], bound);
    check_options(bound.options, kernel.name);
  }
  bool missing = false;
  for (size_t i = 0; i < bound.count; ++i) {
    if (bound.values[i] != nullptr) continue;
    bound.values[i] = kernel.parameters[i].default_value.ptr();
    missing = missing || bound.values[i] == nullptr;
  }
  if (missing) refuse_missing(kernel, bound);
}

nb::dict bound_dict(const KernelState& kernel, const BoundCall& bound) {
  nb::dict result;
  for (size_t i = 0; i < bound.count; ++i)
    result[kernel.parameters[i].name] = nb::handle(bound.values[i]);
  return result;
}

}  // namespace enceladus
