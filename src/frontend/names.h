// Interned Python strings and well-known Python objects, fetched once. Looking an attribute up by
// an interned string costs a fraction of making the string.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>

#include "support/dtype.h"

namespace enceladus::frontend {

namespace nb = nanobind;

// Attribute names and types of the `ast` module and of our own objects. Immortal.
struct Names {
  PyObject* op;
  PyObject* ops;
  PyObject* ctx;
  PyObject* conversion;
  PyObject* lineno;
  PyObject* col_offset;
  PyObject* end_lineno;
  PyObject* end_col_offset;
  PyObject* enc_parsed;
  PyObject* enc_builtin;
  PyObject* enc_helper;
  PyObject* value;
  PyObject* name;
  PyObject* dict;
  PyTypeObject* store_class;
};
const Names& names();

// Objects of the language module and Python's builtins. Immortal.
struct KnownObjects {
  nb::object dtypes[kDTypeCount];         // tl.float32 ...
  nb::object pointer_types[kDTypeCount];  // tl.pointer_type(tl.float32) ...
  nb::object dtype_class;
  nb::object pointer_class;
  nb::object constexpr_class;
  nb::object tensor_class;
  nb::object descriptor_class;
  nb::object jit_class;
  nb::object language;  // the module enceladus.language
  nb::object range, min, max, abs, print, len, isinstance, int_type, float_type, bool_type;
  nb::object builtins;  // the dict of Python's builtins
  nb::object none, true_object, false_object, ellipsis;
};
const KnownObjects& known();

// The element type that a Python object names: a `tl` dtype, or its name as a string.
std::optional<DType> dtype_of_object(nb::handle object);
// The pointee where the object is a `tl.pointer_type`.
std::optional<DType> pointee_of_object(nb::handle object);

}  // namespace enceladus::frontend
