// Values of `tl.constexpr` parameters in the key of a specialization: numbers and strings by value
// (-0.0 apart from 0.0, True apart from 1), everything else by an object that stands for it.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>
#include <vector>

#include "bindings/launch_key.h"

namespace enceladus {

// For messages: which argument of which kernel.
struct ConstantPlace {
  std::string_view argument;
  std::string_view kernel;
};

// Objects that are constexpr values by identity: dtypes, jit functions, enumeration members. Equal
// objects of one type share the first one seen, which is kept alive, so that its address can
// stand for it in keys.
class CanonicalObjects {
 public:
  // The object that stands for `value`, borrowed. Raises TypeError where it is an array, cannot be
  // hashed, or has no repr to name it by.
  PyObject* canonical(PyObject* value, const ConstantPlace& place);
  void clear();
  int traverse(visitproc visit, void* arg);

 private:
  std::vector<PyObject*> recent_;  // borrowed from known_
  nanobind::object known_;         // dict: (type, object) -> object
};

// The value as the compiler sees it: NumPy scalars become Python numbers, `tl.constexpr` objects
// their values, also inside tuples. Borrowed from `value` or from `converted`, which grows.
PyObject* plain_constant(PyObject* value, std::vector<nanobind::object>& converted);

// Appends a plain value; different values never give the same bytes.
void write_constant(KeyWriter& key, PyObject* value, CanonicalObjects& objects,
                    const ConstantPlace& place);

}  // namespace enceladus
