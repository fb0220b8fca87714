#include "frontend/names.h"

#include <string>

namespace enceladus::frontend {
namespace {

PyObject* interned(const char* text) { return PyUnicode_InternFromString(text); }

Names make_names() {
  nb::object store = nb::module_::import_("ast").attr("Store");
  return {.op = interned("op"),
          .ops = interned("ops"),
          .ctx = interned("ctx"),
          .conversion = interned("conversion"),
          .lineno = interned("lineno"),
          .col_offset = interned("col_offset"),
          .end_lineno = interned("end_lineno"),
          .end_col_offset = interned("end_col_offset"),
          .enc_parsed = interned("_enc_parsed"),
          .enc_builtin = interned("_enc_builtin"),
          .enc_helper = interned("_enc_helper"),
          .value = interned("value"),
          .name = interned("name"),
          .dict = interned("__dict__"),
          .store_class = reinterpret_cast<PyTypeObject*>(store.release().ptr())};
}

KnownObjects make_known() {
  nb::module_ core = nb::module_::import_("enceladus.language.core");
  nb::module_ builtins = nb::module_::import_("builtins");
  KnownObjects result;
  result.dtype_class = core.attr("dtype");
  result.pointer_class = core.attr("pointer_type");
  result.constexpr_class = core.attr("constexpr");
  result.tensor_class = core.attr("tensor");
  result.descriptor_class = core.attr("tensor_descriptor");
  for (int i = 0; i < kDTypeCount; ++i) {
    result.dtypes[i] = core.attr(std::string(kDTypes[i].python_name).c_str());
    result.pointer_types[i] = result.pointer_class(result.dtypes[i]);
  }
  result.jit_class = nb::module_::import_("enceladus.jit").attr("JITFunction");
  result.language = nb::module_::import_("enceladus.language");
  result.range = builtins.attr("range");
  result.min = builtins.attr("min");
  result.max = builtins.attr("max");
  result.abs = builtins.attr("abs");
  result.print = builtins.attr("print");
  result.len = builtins.attr("len");
  result.isinstance = builtins.attr("isinstance");
  result.int_type = builtins.attr("int");
  result.float_type = builtins.attr("float");
  result.bool_type = builtins.attr("bool");
  result.builtins = builtins.attr("__dict__");
  result.none = nb::none();
  result.true_object = nb::borrow(Py_True);
  result.false_object = nb::borrow(Py_False);
  result.ellipsis = nb::borrow(Py_Ellipsis);
  return result;
}

}  // namespace

const Names& names() {
  static const Names* instance = new Names(make_names());
  return *instance;
}

const KnownObjects& known() {
  static const KnownObjects* instance = new KnownObjects(make_known());
  return *instance;
}

std::optional<DType> dtype_of_object(nb::handle object) {
  const KnownObjects& objects = known();
  for (int i = 0; i < kDTypeCount; ++i)
    if (object.is(objects.dtypes[i])) return static_cast<DType>(i);
  if (PyUnicode_Check(object.ptr()))
    return dtype_from_python_name(nb::cast<std::string_view>(object));
  if (Py_TYPE(object.ptr()) != reinterpret_cast<PyTypeObject*>(objects.dtype_class.ptr()))
    return std::nullopt;
  nb::object name = object.attr("name");
  return dtype_from_python_name(nb::cast<std::string_view>(name));
}

std::optional<DType> pointee_of_object(nb::handle object) {
  const KnownObjects& objects = known();
  if (Py_TYPE(object.ptr()) != reinterpret_cast<PyTypeObject*>(objects.pointer_class.ptr()))
    return std::nullopt;
  return dtype_of_object(object.attr("element_ty"));
}

}  // namespace enceladus::frontend
