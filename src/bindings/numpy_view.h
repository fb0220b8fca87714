// Reads NumPy arrays without NumPy's headers: the leading fields of its array and dtype objects
// have had one layout in every release since 1.0, and are checked against `__array_interface__`
// once per process.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "runtime/common/strided.h"
#include "support/dtype.h"

namespace enceladus {

struct NumpyArray {  // PyArrayObject_fields
  PyObject_HEAD;
  char* data;
  int rank;
  Py_ssize_t* shape;
  Py_ssize_t* strides;  // bytes
  PyObject* base;
  PyObject* descriptor;
  int flags;
};

// numpy.ndarray, imported on first use; null when NumPy's layout is not the expected one.
PyTypeObject* numpy_array_type();

inline bool is_numpy_array(PyObject* object) {
  PyTypeObject* type = numpy_array_type();
  return Py_TYPE(object) == type || (type && PyObject_TypeCheck(object, type));
}

// Throws ArgumentProblem for types that kernels do not have, and for foreign byte orders.
DType numpy_dtype(const NumpyArray& array);
bool numpy_is_writable(const NumpyArray& array);
bool numpy_is_aligned(const NumpyArray& array);

// Shape and strides in elements. Throws ArgumentProblem when a stride is no multiple of the
// element size.
Strided numpy_layout(const NumpyArray& array, DType dtype);

}  // namespace enceladus
