// Raising Python exceptions from the launch path. Each call sets the error and throws
// nb::python_error, which the entry points hand back to Python; only failing launches come here.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace enceladus {

[[noreturn]] void raise(PyObject* type, const std::string& message);
// Throws the Python error that is already set.
[[noreturn]] void raise_set_error();
// Sets the Python error for the C++ exception in flight; call it inside a catch block.
void set_error_of_current_exception();

// "", or " Did you mean 'num_warps'?" for the candidate closest to `name`.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);
// repr(value), cut to a length fit for a message; never raises.
std::string short_repr(PyObject* value);
// The type's name without its module.
std::string type_name(PyObject* value);
std::string text_of(PyObject* string);

}  // namespace enceladus
