#include "bindings/torch_view.h"

#include <nanobind/stl/string.h>

#include <array>
#include <string>

#include "bindings/devices.h"
#include "bindings/dlpack.h"
#include "bindings/launch_errors.h"
#include "bindings/torch_layout.h"
#include "runtime/cpu/device.h"
#include "runtime/cuda/device.h"
#include "runtime/metal/device.h"

namespace enceladus {
namespace nb = nanobind;
namespace {

using Kind = ArgumentProblem::Kind;

// Interned names and singletons of the imported torch, kept for the life of the process.
struct TorchNames {
  PyTypeObject* tensor_type;
  PyTypeObject* parameter_type;
  const dlpack::ExchangeApi* exchange = nullptr;  // PyTorch 2.10 and later
  std::optional<NegationBit> negation;
  PyObject* data_ptr = PyUnicode_InternFromString("data_ptr");
  PyObject* dtype = PyUnicode_InternFromString("dtype");
  PyObject* is_cpu = PyUnicode_InternFromString("is_cpu");
  PyObject* is_neg = PyUnicode_InternFromString("is_neg");
  PyObject* is_contiguous = PyUnicode_InternFromString("is_contiguous");
  PyObject* numel = PyUnicode_InternFromString("numel");
  PyObject* storage_offset = PyUnicode_InternFromString("storage_offset");
  PyObject* raw_stream = nullptr;  // torch._C._cuda_getCurrentRawStream, where torch has CUDA
  std::array<PyObject*, kDTypeCount> dtypes{};
};

PyTypeObject* type_of_name(nb::handle module, const char* name) {
  return reinterpret_cast<PyTypeObject*>(nb::object(module.attr(name)).release().ptr());
}

const dlpack::ExchangeApi* find_exchange_api(nb::handle tensor_type) {
  nb::object capsule = nb::getattr(tensor_type, "__dlpack_c_exchange_api__", nb::none());
  if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return nullptr;
  const auto* api = static_cast<const dlpack::ExchangeApi*>(
      PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  return api->header.major == 1 ? api : nullptr;
}

// Calls of torch while another thread imports it may wait for that thread, and it for them.
bool is_being_imported(nb::handle module) {
  const nb::object spec = nb::getattr(module, "__spec__", nb::none());
  return nb::getattr(spec, "_initializing", nb::none()).ptr() == Py_True;
}

const TorchNames* load_names() {
  nb::object torch = nb::module_::import_("sys").attr("modules").attr("get")("torch");
  if (torch.is_none() || !nb::hasattr(torch, "Tensor") || !nb::hasattr(torch, "nn")) return nullptr;
  if (is_being_imported(torch)) return nullptr;
  auto* names = new TorchNames;
  names->tensor_type = type_of_name(torch, "Tensor");
  names->parameter_type = type_of_name(torch.attr("nn"), "Parameter");
  names->exchange = find_exchange_api(torch.attr("Tensor"));
  if (names->exchange) names->negation = NegationBit::find(torch);
  nb::object core = nb::getattr(torch, "_C", nb::none());
  names->raw_stream = nb::getattr(core, "_cuda_getCurrentRawStream", nb::none()).release().ptr();
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

// Such a view is negated by torch at each read; its memory holds the values unnegated.
void refuse_negated(PyObject* object) {
  if (call(object, names()->is_neg).ptr() != Py_True) return;
  throw ArgumentProblem(Kind::kValue,
                        "is a view that torch negates lazily: pass `.resolve_neg()` of it");
}

// Subclasses that only describe other tensors, what torch's tracers pass, and tensors whose storage
// was freed have elements but no memory: their address is null, or their offset in nothing.
// Programs have none of theirs in the lowest 4 GB, as a rule; where they do, asking torch costs
// time only.
void refuse_missing_memory(PyObject* object, const ArgumentView& view) {
  if (view.low >> 32 != 0 || view.low == view.high) return;
  if (view.low != 0) {
    const auto offset = nb::cast<uint64_t>(call(object, names()->storage_offset));
    if (view.low != offset * static_cast<uint64_t>(byte_size(view.dtype))) return;
  }
  throw ArgumentProblem(Kind::kValue, "is a torch tensor (" + type_name(object) +
                                          ") that has no memory: it was freed, or this stands for "
                                          "other tensors; pass one that holds its elements");
}

// The exchange API's view: one call instead of five attributes. False where it has none to give,
// for other devices and for types that kernels do not have.
bool view_by_exchange(PyObject* object, ArgumentView* view) {
  const PyTypeObject* type = Py_TYPE(object);
  // Subclasses may hold no memory of their own.
  if (!names()->exchange || (type != names()->tensor_type && type != names()->parameter_type))
    return false;
  dlpack::Tensor tensor;
  if (names()->exchange->view(object, &tensor) != 0) {
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) throw nb::python_error();
    PyErr_Clear();
    return false;
  }
  const bool is_cuda = tensor.device.type == dlpack::kCuda;
  if (!is_cuda && tensor.device.type != dlpack::kCpu) return false;
  const std::optional<DType> dtype = dlpack_dtype(tensor.element_type);
  if (!dtype) return false;
  // No method is called for a tensor of which memory tells it.
  if (!names()->negation || names()->negation->is_set(object)) refuse_negated(object);
  view->device = is_cuda ? &cuda_device_of_array(tensor.device.index) : &cpu::device();
  view->dtype = *dtype;
  view->data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  int64_t elements = 1;
  for (int32_t axis = 0; axis < tensor.rank; ++axis) {
    if (tensor.shape[axis] == 0) elements = 0;
    if (elements) elements += (tensor.shape[axis] - 1) * tensor.strides[axis];
  }
  view->low = reinterpret_cast<uint64_t>(view->data);
  view->high = view->low + static_cast<uint64_t>(elements * byte_size(view->dtype));
  return true;
}

// A tensor on mps: its storage's address is the handle of a buffer.
void view_mps(PyObject* object, ArgumentView* view) {
  metal::MetalDevice* device = metal_device();
  if (!device)
    throw ArgumentProblem(Kind::kValue, "is a torch tensor on mps, but there is no Metal device");
  const nb::handle tensor(object);
  nb::object storage = tensor.attr("untyped_storage")();
  view->device = device;
  view->foreign_buffer = reinterpret_cast<void*>(nb::cast<uintptr_t>(storage.attr("data_ptr")()));
  view->foreign_offset = nb::cast<uint64_t>(tensor.attr("storage_offset")()) *
                         static_cast<uint64_t>(byte_size(torch_dtype(object)));
  if (!view->foreign_buffer) {  // it has no elements
    view->device = nullptr;
    return;
  }
  view->data =
      reinterpret_cast<void*>(device->address_of(view->foreign_buffer) + view->foreign_offset);
}

// For PyTorch without the exchange API, and for mps.
void view_device(PyObject* object, ArgumentView* view) {
  view->device = &cpu::device();
  if (attribute(object, names()->is_cpu).ptr() == Py_True) return;
  nb::object device = nb::handle(object).attr("device");
  const std::string type = text(device.attr("type"));
  if (type == "mps") return view_mps(object, view);
  if (type != "cuda")
    throw ArgumentProblem(Kind::kValue, "is a torch tensor on " + text(device) +
                                            ", which kernels cannot reach; `.to(\"cpu\")` of it "
                                            "can be passed");
  view->device = &cuda_device_of_array(nb::cast<int>(device.attr("index")));
}

void* address_of(PyObject* object) {
  try {
    return reinterpret_cast<void*>(nb::cast<uintptr_t>(call(object, names()->data_ptr)));
  } catch (nb::python_error&) {
    const std::string layout = text(nb::handle(object).attr("layout"));
    if (layout == "torch.strided") throw;
    throw ArgumentProblem(Kind::kType, "is a torch tensor with the layout " + layout +
                                           ", which kernels do not have: pass `.to_dense()` of it");
  }
}

}  // namespace

bool is_torch_tensor(PyObject* object) {
  return names() && PyObject_TypeCheck(object, names()->tensor_type);
}

void view_torch_tensor(PyObject* object, ArgumentView* view) {
  view->origin = ArgumentOrigin::kTorch;
  view->writable = true;
  if (view_by_exchange(object, view)) return refuse_missing_memory(object, *view);
  refuse_negated(object);
  view_device(object, view);
  if (!view->foreign_buffer && view->device) view->data = address_of(object);
  view->dtype = torch_dtype(object);
  view->low = reinterpret_cast<uint64_t>(view->data);
  view->high = view->low + torch_extent(object, view->dtype);
  if (!view->foreign_buffer) refuse_missing_memory(object, *view);
}

std::optional<void*> torch_stream(const Device& device) {
  if (device.kind() != DeviceKind::kCuda) return std::nullopt;
  const int index = cuda::ordinal(device);
  void* stream = nullptr;
  if (names()->exchange) {
    if (names()->exchange->current_work_stream(dlpack::kCuda, index, &stream))
      throw nb::python_error();
    return stream;
  }
  const nb::object found = nb::handle(names()->raw_stream)(index);
  return reinterpret_cast<void*>(nb::cast<uintptr_t>(found));
}

}  // namespace enceladus
