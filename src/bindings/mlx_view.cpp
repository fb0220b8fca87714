#include "bindings/mlx_view.h"

#include <nanobind/stl/string.h>

#include <utility>

#include "bindings/numpy_view.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

bool lazy = false;  // under the interpreter lock
thread_local int eager_launches = 0;

nb::object adapter() { return nb::module_::import_("enceladus.interop.mlx"); }

// Addresses for an array that has no memory yet: a range of its own, of no known alignment.
uint64_t imagined_address() {
  static uint64_t number = 0;
  constexpr uint64_t kRange = uint64_t{1} << 44, kRanges = 1 << 15;
  return (1 + ++number % kRanges) * kRange + 1;
}

ArgumentView describe(PyObject* object) {
  nb::tuple described = nb::cast<nb::tuple>(adapter().attr("describe")(nb::handle(object)));
  const auto name = nb::cast<std::string>(described[0]);
  const std::optional<DType> dtype = dtype_from_python_name(name);
  if (!dtype)
    throw ArgumentProblem(ArgumentProblem::Kind::kType,
                          "has the dtype " + name + ", which kernels do not have");
  ArgumentView view;
  view.dtype = *dtype;
  view.low = imagined_address();
  view.high =
      view.low + nb::cast<uint64_t>(described[1]) * static_cast<uint64_t>(byte_size(*dtype));
  view.data = reinterpret_cast<void*>(view.low);
  view.writable = true;
  return view;
}

}  // namespace

bool is_mlx_array(PyObject* object) {
  static PyObject* name = PyUnicode_InternFromString("mlx.core");
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* module = PyDict_GetItemWithError(modules, name);
  if (!module) return false;
  nb::object type = nb::getattr(nb::handle(module), "array", nb::none());
  return PyType_Check(type.ptr()) &&
         PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(type.ptr()));
}

ArgumentView view_mlx_array(PyObject* object) {
  ArgumentView view;
  if (mlx_is_lazy()) {
    view = describe(object);
  } else {
    nb::tuple held = nb::cast<nb::tuple>(adapter().attr("evaluated")(nb::handle(object)));
    view_numpy(*reinterpret_cast<const NumpyArray*>(nb::handle(held[0]).ptr()), &view);
    if (!view.writable)
      view.unwritable_reason = nb::cast<bool>(held[1])
                                   ? "is a broadcast MLX array, whose elements share memory"
                                   : "is an MLX array that is a view in another order";
    view.held = hold_array(nb::handle(held[0]).ptr());
    view.resource = view.held.get();
  }
  view.origin = ArgumentOrigin::kMlx;
  return view;
}

bool mlx_is_lazy() { return lazy && eager_launches == 0; }
bool set_mlx_lazy(bool value) { return std::exchange(lazy, value); }

MlxEagerly::MlxEagerly() { ++eager_launches; }
MlxEagerly::~MlxEagerly() { --eager_launches; }

}  // namespace enceladus
