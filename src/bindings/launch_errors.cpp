#include "bindings/launch_errors.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace enceladus {

void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

void raise_set_error() { throw nb::python_error(); }

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  nb::object closest = nb::module_::import_("difflib").attr("get_close_matches")(
      nb::str(name.data(), name.size()), candidates, 1, 0.5);
  if (nb::len(closest) == 0) return "";
  return " Did you mean '" + nb::cast<std::string>(closest[0]) + "'?";
}

std::string text_of(PyObject* string) {
  const char* text = PyUnicode_AsUTF8(string);
  if (text == nullptr) raise_set_error();
  return text;
}

std::string short_repr(PyObject* value) {
  constexpr size_t kLongest = 80;
  PyObject* repr = PyObject_Repr(value);
  const char* text = repr != nullptr ? PyUnicode_AsUTF8(repr) : nullptr;
  std::string result = text != nullptr ? text : type_name(value);
  PyErr_Clear();
  Py_XDECREF(repr);
  if (result.size() > kLongest) {
    result.resize(kLongest - 3);
    result += "...";
  }
  return result;
}

std::string type_name(PyObject* value) {
  std::string name = Py_TYPE(value)->tp_name;
  return name.substr(name.rfind('.') + 1);
}

}  // namespace enceladus
