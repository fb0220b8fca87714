#include "bindings/argument_view.h"

#include "bindings/cuda_array.h"
#include "bindings/devices.h"
#include "bindings/dlpack.h"
#include "bindings/mlx_view.h"
#include "bindings/numpy_view.h"
#include "bindings/python_buffer.h"
#include "bindings/tensor.h"
#include "bindings/torch_view.h"
#include "runtime/cpu/device.h"

namespace enceladus {
namespace nb = nanobind;
namespace {

using Kind = ArgumentProblem::Kind;

void check_strides(bool has_negative) {
  if (has_negative)
    throw ArgumentProblem(Kind::kValue,
                          "has a negative stride, which kernels cannot follow; pass a copy");
}

void view_tensor(const TensorObject& tensor, ArgumentView* view) {
  check_strides(tensor.negative_stride);
  view->data = tensor.data;
  view->low = tensor.low;
  view->high = tensor.high;
  view->dtype = tensor.dtype;
  view->origin = ArgumentOrigin::kTensor;
  view->writable = tensor.writable;
  view->device = tensor.device;
  view->resource = tensor.storage.get();
}

}  // namespace

void view_numpy(const NumpyArray& array, ArgumentView* view) {
  view->dtype = numpy_dtype(array);
  if (!numpy_is_aligned(array))
    throw ArgumentProblem(Kind::kValue, "is not aligned to its element size; pass a copy");
  uint64_t extent = static_cast<uint64_t>(byte_size(view->dtype));
  for (int axis = 0; axis < array.rank; ++axis) {
    if (array.shape[axis] == 0) {
      extent = 0;
      break;
    }
    check_strides(array.strides[axis] < 0 && array.shape[axis] > 1);
    extent += static_cast<uint64_t>((array.shape[axis] - 1) * array.strides[axis]);
  }
  view->data = array.data;
  view->low = reinterpret_cast<uint64_t>(array.data);
  view->high = view->low + extent;
  view->origin = ArgumentOrigin::kNumpy;
  view->writable = numpy_is_writable(array);
  view->device = nullptr;
  view->array = reinterpret_cast<PyObject*>(const_cast<NumpyArray*>(&array));
}

namespace {

// An array that was imported for this launch alone.
void view_imported(TensorObject tensor, ArgumentView* view) {
  view_tensor(tensor, view);
  view->origin = ArgumentOrigin::kOther;
  view->held = Ref<Resource>(std::move(tensor.storage));
  view->resource = view->held.get();
}

// Arrays of libraries that we do not know by name.
bool view_protocol(PyObject* object, ArgumentView* view) {
  if (PyObject_HasAttrString(object, "__dlpack__")) {
    view_imported(import_dlpack(object), view);
    if (view->device == &cpu::device()) view->device = nullptr;
    return true;
  }
  if (std::optional<TensorObject> tensor = import_cuda_array(object)) {
    view_imported(std::move(*tensor), view);
    if (view->low == view->high) view->device = nullptr;  // without elements it lies nowhere
    return true;
  }
  if (!PyObject_HasAttrString(object, "__array_interface__")) return false;
  nb::object array = nb::module_::import_("numpy").attr("asarray")(nb::handle(object));
  if (!is_numpy_array(array.ptr())) return false;
  view_numpy(*reinterpret_cast<const NumpyArray*>(array.ptr()), view);
  view->origin = ArgumentOrigin::kOther;
  view->held = hold_array(array.ptr());
  view->resource = view->held.get();
  return true;
}

}  // namespace

bool view_argument(PyObject* object, ArgumentView* view) {
  if (is_tensor(object)) {
    view_tensor(*tensor_object(object), view);
    return true;
  }
  if (is_numpy_array(object)) {
    view_numpy(*reinterpret_cast<const NumpyArray*>(object), view);
    return true;
  }
  if (is_torch_tensor(object)) {
    view_torch_tensor(object, view);
    return true;
  }
  if (is_mlx_array(object)) {
    *view = view_mlx_array(object);
    return true;
  }
  // NumPy scalars offer __array_interface__ too, but are scalars; so are types and modules.
  if (PyLong_Check(object) || PyFloat_Check(object) || PyType_Check(object) ||
      PyUnicode_Check(object))
    return false;
  static PyObject* numpy_scalar =
      nb::object(nb::module_::import_("numpy").attr("generic")).release().ptr();
  if (PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(numpy_scalar))) return false;
  return view_protocol(object, view);
}

Device& cuda_device_of_array(int index) {
  try {
    return cuda_device(index);
  } catch (const std::invalid_argument& missing) {
    throw ArgumentProblem(Kind::kValue,
                          "lies on CUDA device " + std::to_string(index) + ": " + missing.what());
  }
}

Ref<Resource> hold_array(PyObject* object) {
  return Ref<PythonBuffer>::adopt(new PythonBuffer(nb::borrow(nb::handle(object)), nullptr, 0));
}

}  // namespace enceladus
