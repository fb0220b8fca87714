#include "bindings/torch_view.h"

#include <nanobind/stl/string.h>

#include <array>
#include <string>

#include "runtime/cpu/device.h"

namespace enceladus {
namespace nb = nanobind;
namespace {

using Kind = ArgumentProblem::Kind;

// Interned names and singletons of the imported torch, kept for the life of the process.
struct TorchNames {
  PyTypeObject* tensor_type;
  PyObject* data_ptr = PyUnicode_InternFromString("data_ptr");
  PyObject* dtype = PyUnicode_InternFromString("dtype");
  PyObject* is_cpu = PyUnicode_InternFromString("is_cpu");
  PyObject* is_contiguous = PyUnicode_InternFromString("is_contiguous");
  PyObject* numel = PyUnicode_InternFromString("numel");
  std::array<PyObject*, kDTypeCount> dtypes{};
};

const TorchNames* load_names() {
  nb::object torch = nb::module_::import_("sys").attr("modules").attr("get")("torch");
  if (torch.is_none() || !nb::hasattr(torch, "Tensor")) return nullptr;
  auto* names = new TorchNames;
  names->tensor_type =
      reinterpret_cast<PyTypeObject*>(nb::object(torch.attr("Tensor")).release().ptr());
  for (const DTypeInfo& record : kDTypes) {
    const std::string name =
        record.dtype == DType::kInt1 ? "bool" : std::string(record.python_name);
    if (nb::hasattr(torch, name.c_str()))
      names->dtypes[static_cast<int>(record.dtype)] =
          nb::object(torch.attr(name.c_str())).release().ptr();
  }
  return names;
}

// Null until the program has imported torch.
const TorchNames* names() {
  static const TorchNames* loaded = nullptr;
  if (!loaded) loaded = load_names();
  return loaded;
}

nb::object attribute(PyObject* object, PyObject* name) {
  PyObject* value = PyObject_GetAttr(object, name);
  if (!value) throw nb::python_error();
  return nb::steal(value);
}

nb::object call(PyObject* object, PyObject* name) {
  PyObject* value = PyObject_CallMethodNoArgs(object, name);
  if (!value) throw nb::python_error();
  return nb::steal(value);
}

std::string text(const nb::object& object) { return nb::cast<std::string>(nb::str(object)); }

DType torch_dtype(PyObject* object) {
  nb::object dtype = attribute(object, names()->dtype);
  for (int index = 0; index < kDTypeCount; ++index)
    if (names()->dtypes[index] == dtype.ptr()) return static_cast<DType>(index);
  throw ArgumentProblem(Kind::kType,
                        "has the dtype " + text(dtype) + ", which kernels do not have");
}

// Bytes from the first element to behind the last; torch has no negative strides.
uint64_t torch_extent(PyObject* object, DType dtype) {
  const auto count = nb::cast<int64_t>(call(object, names()->numel));
  if (count == 0) return 0;
  if (call(object, names()->is_contiguous).ptr() == Py_True)
    return static_cast<uint64_t>(count * byte_size(dtype));
  nb::tuple shape(nb::handle(object).attr("shape"));
  nb::tuple strides(nb::handle(object).attr("stride")());
  int64_t elements = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    elements += (nb::cast<int64_t>(shape[axis]) - 1) * nb::cast<int64_t>(strides[axis]);
  return static_cast<uint64_t>(elements * byte_size(dtype));
}

}  // namespace

bool is_torch_tensor(PyObject* object) {
  return names() && PyObject_TypeCheck(object, names()->tensor_type);
}

ArgumentView view_torch_tensor(PyObject* object) {
  if (attribute(object, names()->is_cpu).ptr() != Py_True)
    throw ArgumentProblem(Kind::kValue, "is a torch tensor on " +
                                            text(nb::handle(object).attr("device")) +
                                            ", but this kernel runs on cpu");
  ArgumentView view;
  view.data = reinterpret_cast<void*>(nb::cast<uintptr_t>(call(object, names()->data_ptr)));
  view.dtype = torch_dtype(object);
  view.origin = ArgumentOrigin::kTorch;
  view.writable = true;
  view.device = &cpu::device();
  view.low = reinterpret_cast<uint64_t>(view.data);
  view.high = view.low + torch_extent(object, view.dtype);
  return view;
}

}  // namespace enceladus
