#include "bindings/launch_constants.h"

#include <bit>

#include "bindings/launch_errors.h"
#include "bindings/launch_scalars.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

// First byte of a constant; other tags of the key are below 16.
enum : uint8_t {
  kKeyNone = 16,
  kKeyFalse,
  kKeyTrue,
  kKeyInteger,
  kKeyLongInteger,
  kKeyFloat,
  kKeyText,
  kKeyTuple,
  kKeyObject,
};

std::string named(const ConstantPlace& place) {
  return "constexpr argument `" + std::string(place.argument) + "` of `" +
         std::string(place.kernel) + "`";
}

constexpr const char* kAccepted =
    "a constexpr is a number, a string, a dtype, a tuple, a jit function, an enumeration member "
    "or None";

void refuse_array(PyObject* value, const ConstantPlace& place) {
  if (PyType_Check(value)) return;
  if (!PyObject_HasAttrString(value, "__dlpack__") &&
      !PyObject_HasAttrString(value, "__cuda_array_interface__") &&
      !PyObject_HasAttrString(value, "__array_interface__"))
    return;
  raise(PyExc_TypeError, named(place) + " is an array (" + type_name(value) + "); " + kAccepted +
                             ". Remove the annotation `tl.constexpr` to pass arrays");
}

// A repr with an address says nothing about the value in another process.
void check_stable_repr(PyObject* value, const ConstantPlace& place) {
  if (PyType_Check(value) || PyModule_Check(value) || PyFunction_Check(value)) return;
  if (PyObject_HasAttrString(value, "__wrapped__")) return;  // a jit function: its source names it
  nb::str repr = nb::repr(nb::handle(value));
  if (text_of(repr.ptr()).find(" at 0x") == std::string::npos) return;
  raise(PyExc_TypeError, named(place) + " is " + short_repr(value) +
                             ", whose repr does not name its value; " + kAccepted);
}

// The value inside a `tl.constexpr`; null for any other object.
nb::object unwrapped_constexpr(PyObject* value) {
  if (std::string_view(Py_TYPE(value)->tp_name) != "constexpr") return {};
  return nb::steal(PyObject_GetAttrString(value, "value"));
}

nb::object python_number(PyObject* value) {
  std::optional<ScalarBits> scalar = numpy_scalar(value);
  if (!scalar) return {};
  if (is_float(scalar->dtype)) return nb::steal(PyNumber_Float(value));
  if (is_bool(scalar->dtype)) return nb::bool_(scalar->bits != 0);
  return nb::steal(PyNumber_Index(value));
}

// A tuple of plain elements, or null where the tuple has only such.
nb::object plain_tuple(PyObject* tuple, std::vector<nb::object>& converted) {
  Py_ssize_t size = PyTuple_GET_SIZE(tuple);
  std::vector<PyObject*> elements;
  bool changed = false;
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* element = PyTuple_GET_ITEM(tuple, i);
    elements.push_back(plain_constant(element, converted));
    changed = changed || elements.back() != element;
  }
  if (!changed) return {};
  nb::object result = nb::steal(PyTuple_New(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* element = elements[static_cast<size_t>(i)];
    Py_INCREF(element);
    PyTuple_SET_ITEM(result.ptr(), i, element);
  }
  return result;
}

bool is_plain(PyObject* value) {
  return value == Py_None || PyLong_CheckExact(value) || PyBool_Check(value) ||
         PyFloat_CheckExact(value) || PyUnicode_CheckExact(value);
}

void write_integer(KeyWriter& key, PyObject* value) {
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow == 0) {
    key.byte(kKeyInteger);
    key.word(static_cast<uint64_t>(number));
    return;
  }
  nb::object digits = nb::steal(PyNumber_ToBase(value, 16));
  if (!digits.is_valid()) raise_set_error();
  key.byte(kKeyLongInteger);
  key.text(text_of(digits.ptr()));
}

void write_text(KeyWriter& key, PyObject* value) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value, &size);
  if (text == nullptr) raise_set_error();
  key.byte(kKeyText);
  key.text({text, static_cast<size_t>(size)});
}

}  // namespace

PyObject* CanonicalObjects::canonical(PyObject* value, const ConstantPlace& place) {
  for (PyObject* known : recent_)
    if (known == value) return value;
  refuse_array(value, place);
  if (!known_.is_valid()) known_ = nb::dict();
  nb::object pair =
      nb::make_tuple(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(value))), nb::handle(value));
  PyObject* known = PyDict_GetItemWithError(known_.ptr(), pair.ptr());
  if (known != nullptr) return known;
  if (PyErr_Occurred()) {
    PyErr_Clear();
    raise(PyExc_TypeError, named(place) + " is " + short_repr(value) + " of type " +
                               type_name(value) + ", which cannot be hashed; " + kAccepted);
  }
  check_stable_repr(value, place);
  if (PyDict_SetItem(known_.ptr(), pair.ptr(), value) != 0) raise_set_error();
  constexpr size_t kMostRecent = 16;
  if (recent_.size() < kMostRecent) recent_.push_back(value);
  return value;
}

void CanonicalObjects::clear() {
  recent_.clear();
  known_.reset();
}

int CanonicalObjects::traverse(visitproc visit, void* arg) {
  Py_VISIT(known_.ptr());
  return 0;
}

PyObject* plain_constant(PyObject* value, std::vector<nb::object>& converted) {
  if (is_plain(value)) return value;
  nb::object plain;
  if (PyTuple_CheckExact(value)) {
    plain = plain_tuple(value, converted);
  } else if (plain = unwrapped_constexpr(value); plain.is_valid()) {
    converted.push_back(plain);
    return plain_constant(plain.ptr(), converted);
  } else {
    plain = python_number(value);
  }
  if (!plain.is_valid()) return value;
  converted.push_back(plain);
  return plain.ptr();
}

void write_constant(KeyWriter& key, PyObject* value, CanonicalObjects& objects,
                    const ConstantPlace& place) {
  if (value == Py_None) return key.byte(kKeyNone);
  if (PyBool_Check(value)) return key.byte(value == Py_True ? kKeyTrue : kKeyFalse);
  if (PyLong_CheckExact(value)) return write_integer(key, value);
  if (PyUnicode_CheckExact(value)) return write_text(key, value);
  if (PyFloat_CheckExact(value)) {
    key.byte(kKeyFloat);
    return key.word(std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(value)));
  }
  if (PyTuple_CheckExact(value)) {
    Py_ssize_t size = PyTuple_GET_SIZE(value);
    key.byte(kKeyTuple);
    key.word(static_cast<uint64_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i)
      write_constant(key, PyTuple_GET_ITEM(value, i), objects, place);
    return;
  }
  key.byte(kKeyObject);
  key.word(reinterpret_cast<uint64_t>(objects.canonical(value, place)));
}

}  // namespace enceladus
