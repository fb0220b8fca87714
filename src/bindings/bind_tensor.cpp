// _core.TensorBase: fields, views and raw access of tensors. What NumPy computes (printing,
// conversion, assignment) is added by the Python subclass in enceladus/arrays.py.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <vector>

#include "bindings/argument_view.h"
#include "bindings/bindings.h"
#include "bindings/cuda_array.h"
#include "bindings/devices.h"
#include "bindings/dlpack.h"
#include "bindings/host_memory.h"
#include "bindings/interpreter_lock.h"
#include "bindings/launch_errors.h"
#include "bindings/numpy_view.h"
#include "bindings/python_buffer.h"
#include "bindings/tensor.h"
#include "bindings/torch_view.h"
#include "runtime/cpu/device.h"

namespace enceladus {
namespace nb = nanobind;
namespace {

nb::tuple to_tuple(std::span<const int64_t> values) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(values.size()));
  if (!tuple) throw nb::python_error();
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(values[i]));
  return nb::steal<nb::tuple>(tuple);
}

DType parse_dtype(const std::string& name) {
  const std::optional<DType> dtype = dtype_from_python_name(name);
  if (!dtype) throw nb::value_error(("unknown dtype `" + name + "`").c_str());
  return *dtype;
}

nb::object allocate(const std::vector<int64_t>& shape, const std::string& dtype, bool zeroed,
                    const std::string& device) {
  const Strided layout = contiguous(shape);
  int64_t bytes = 0;
  TensorObject tensor;
  tensor.dtype = parse_dtype(dtype);
  tensor.device = &find_device(device);
  if (__builtin_mul_overflow(element_count(layout), int64_t{byte_size(tensor.dtype)}, &bytes))
    throw std::invalid_argument("shape " + shape_text(shape) + " is too large");
  try {
    tensor.storage = tensor.device->allocate(bytes, zeroed);
  } catch (const std::bad_alloc&) {
    const std::string message = tensor.device->name() + " has no memory for a tensor of shape " +
                                shape_text(shape) + ", " + std::to_string(bytes) + " bytes";
    PyErr_SetString(PyExc_MemoryError, message.c_str());
    throw nb::python_error();
  }
  tensor.data = tensor.storage->data();
  tensor.set_layout(layout);
  return make_tensor(std::move(tensor));
}

nb::object tensor_from_numpy(nb::handle object) {
  if (!is_numpy_array(object.ptr())) throw nb::type_error("from_numpy takes a numpy.ndarray");
  const auto& array = *reinterpret_cast<const NumpyArray*>(object.ptr());
  TensorObject tensor;
  tensor.dtype = numpy_dtype(array);
  if (!numpy_is_aligned(array))
    throw ArgumentProblem(ArgumentProblem::Kind::kValue,
                          "is not aligned to its element size; pass a copy");
  tensor.data = array.data;
  tensor.writable = numpy_is_writable(array);
  tensor.device = &cpu::device();
  tensor.set_layout(numpy_layout(array, tensor.dtype));
  tensor.storage = Ref<PythonBuffer>::adopt(
      new PythonBuffer(nb::borrow(object), reinterpret_cast<void*>(tensor.low),
                       static_cast<int64_t>(tensor.high - tensor.low)));
  return make_tensor(std::move(tensor));
}

// A tensor of a Metal device that shares the memory of an array, which begins on a page and is in C
// order; None where it is not, or where Metal refuses.
nb::object metal_tensor_from_numpy(nb::handle object, const std::string& name) {
  Device& device = find_device(name);
  if (!is_metal(device)) return nb::none();
  nb::object host = tensor_from_numpy(object);
  TensorObject tensor = *nb::inst_ptr<TensorObject>(host);
  if (tensor.low % metal::kPageBytes != 0 || tensor.low == tensor.high ||
      !is_contiguous(tensor.layout))
    return nb::none();
  metal::WrappedMemory* memory = wrapped_memory(*reinterpret_cast<const NumpyArray*>(object.ptr()),
                                                static_cast<metal::MetalDevice&>(device));
  if (!memory || !memory->take_tensors()) return nb::none();
  tensor.device = &device;
  tensor.expose();
  return make_tensor(std::move(tensor));
}

// Of any library's array, by DLPack or `__cuda_array_interface__`.
nb::object tensor_from_exchange(nb::handle object) {
  if (is_torch_tensor(object.ptr())) {  // torch exports what it negates, and addresses of nothing
    ArgumentView view;
    view_torch_tensor(object.ptr(), &view);
  }
  if (nb::hasattr(object, "__dlpack__")) return make_tensor(import_dlpack(object));
  if (std::optional<TensorObject> tensor = import_cuda_array(object))
    return make_tensor(std::move(*tensor));
  throw nb::type_error(("an object of type " + type_name(object.ptr()) +
                        " has no __dlpack__ and no __cuda_array_interface__")
                           .c_str());
}

nb::dlpack::dtype ndarray_dtype(DType dtype) {
  // NumPy has no bfloat16 or float8 of its own: such a tensor leaves as uint16 or uint8, and Python
  // reinterprets it.
  const auto bits = static_cast<uint8_t>(8 * byte_size(dtype));
  using Code = nb::dlpack::dtype_code;
  Code code = Code::Float;
  if (dtype == DType::kBFloat16 || is_float8(dtype))
    code = Code::UInt;
  else if (is_bool(dtype))
    code = Code::Bool;
  else if (is_unsigned(dtype))
    code = Code::UInt;
  else if (!is_float(dtype))
    code = Code::Int;
  return {static_cast<uint8_t>(code), bits, 1};
}

// The lowest byte of the tensor's elements, and how many bytes they span.
void* lowest(const TensorObject& tensor) { return reinterpret_cast<void*>(tensor.low); }
int64_t span_bytes(const TensorObject& tensor) {
  return static_cast<int64_t>(tensor.high - tensor.low);
}

// A NumPy array of the same strides over a copy on the host.
nb::object numpy_copy(const TensorObject& tensor, const size_t* shape) {
  auto* memory = new char[static_cast<size_t>(span_bytes(tensor))];
  const nb::capsule owner(memory, [](void* data) noexcept { delete[] static_cast<char*>(data); });
  {
    const InterpreterUnlocked unlocked;
    tensor.device->copy_to_host(memory, lowest(tensor), span_bytes(tensor));
  }
  char* first = memory + (static_cast<char*>(tensor.data) - static_cast<char*>(lowest(tensor)));
  return nb::cast(nb::ndarray<nb::numpy>(first, static_cast<size_t>(tensor.layout.rank), shape,
                                         owner, tensor.layout.strides,
                                         ndarray_dtype(tensor.dtype)));
}

// A NumPy array over the tensor's memory, or over a copy where the host does not share it; waits
// for pending launches first.
nb::object to_numpy(nb::handle self) {
  const TensorObject& tensor = *nb::inst_ptr<TensorObject>(self);
  wait_for(tensor);
  const auto rank = static_cast<size_t>(tensor.layout.rank);
  size_t shape[kMaximumRank];
  std::copy_n(tensor.layout.shape, rank, shape);
  if (!tensor.device->shares_host_memory()) return numpy_copy(tensor, shape);
  if (!tensor.writable)
    return nb::cast(nb::ndarray<nb::numpy, nb::ro>(
        tensor.data, rank, shape, self, tensor.layout.strides, ndarray_dtype(tensor.dtype)));
  return nb::cast(nb::ndarray<nb::numpy>(tensor.data, rank, shape, self, tensor.layout.strides,
                                         ndarray_dtype(tensor.dtype)));
}

// Overwrites everything the tensor spans with what an array of the same strides spans.
void upload(const TensorObject& tensor, nb::handle object) {
  if (!is_numpy_array(object.ptr())) throw nb::type_error("_upload takes a numpy.ndarray");
  const auto& array = *reinterpret_cast<const NumpyArray*>(object.ptr());
  const char* host =
      array.data - (static_cast<char*>(tensor.data) - static_cast<char*>(lowest(tensor)));
  const InterpreterUnlocked unlocked;
  tensor.device->copy_from_host(lowest(tensor), host, span_bytes(tensor));
}

// Both C-contiguous, of one size and on one device.
void copy_from(const TensorObject& tensor, const TensorObject& source) {
  const InterpreterUnlocked unlocked;
  tensor.device->copy_within(tensor.data, source.data, span_bytes(tensor));
}

// A C-contiguous tensor; `size` bytes (1, 2 or 4) are repeated over all of it.
void fill_bytes(const TensorObject& tensor, int size, uint32_t bits) {
  const InterpreterUnlocked unlocked;
  tensor.device->fill(tensor.data, span_bytes(tensor) / size, size, bits);
}

// `stream` as DLPack numbers streams: a handle, or 1 and 2 for the driver's default ones.
void make_wait(const TensorObject& tensor, uintptr_t stream) {
  tensor.device->make_wait(reinterpret_cast<void*>(stream));
}

nb::tuple dlpack_device_tuple(const TensorObject& tensor) {
  const dlpack::Device device = dlpack_device(*tensor.device);
  return nb::make_tuple(device.type, device.index);
}

nb::object with_layout(const TensorObject& source, const Strided& layout, int64_t offset) {
  TensorObject view = source;
  view.data = static_cast<char*>(source.data) + offset * byte_size(source.dtype);
  view.set_layout(layout);
  return make_tensor(std::move(view));
}

[[noreturn]] void index_error(const std::string& message) {
  throw nb::index_error(message.c_str());
}

[[noreturn]] void refuse_index() {
  throw nb::type_error(
      "tensors are indexed by integers, slices, `...` and None; for anything else use "
      "`t.numpy()[...]`");
}

int64_t apply_integer(Strided& layout, int axis, nb::handle item) {
  const Py_ssize_t index = PyNumber_AsSsize_t(item.ptr(), PyExc_IndexError);
  if (index == -1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();  // an array of several integers
    refuse_index();
  }
  const int64_t extent = layout.shape[axis];
  if (index < -extent || index >= extent)
    index_error("index " + std::to_string(index) + " is out of bounds for axis " +
                std::to_string(axis) + " with size " + std::to_string(extent));
  const int64_t offset = (index < 0 ? index + extent : index) * layout.strides[axis];
  drop_axis(layout, axis);
  return offset;
}

int64_t apply_slice(Strided& layout, int axis, nb::handle item) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(item.ptr(), &start, &stop, &step) < 0) throw nb::python_error();
  const Py_ssize_t length =
      PySlice_AdjustIndices(static_cast<Py_ssize_t>(layout.shape[axis]), &start, &stop, step);
  return restrict_axis(layout, axis, start, step, length);
}

// Basic indexing: integers, slices, `...` and None. Anything else is NumPy's advanced indexing,
// which would copy.
nb::object subscript(const TensorObject& tensor, nb::handle key) {
  nb::tuple items = PyTuple_Check(key.ptr()) ? nb::borrow<nb::tuple>(key) : nb::make_tuple(key);
  int used = 0, ellipses = 0;
  for (nb::handle item : items) {
    if (item.ptr() == Py_Ellipsis)
      ++ellipses;
    else if (!item.is_none())
      ++used;
  }
  if (ellipses > 1) index_error("an index can only have one `...`");
  if (used > tensor.layout.rank)
    index_error("too many indices: the tensor has " + std::to_string(tensor.layout.rank) +
                " axes, but " + std::to_string(used) + " were indexed");
  Strided layout = tensor.layout;
  int64_t offset = 0;
  int axis = 0;
  for (nb::handle item : items) {
    if (item.ptr() == Py_Ellipsis) {
      axis += tensor.layout.rank - used;
    } else if (item.is_none()) {
      insert_axis(layout, axis++);
    } else if (PySlice_Check(item.ptr())) {
      offset += apply_slice(layout, axis++, item);
    } else if (PyIndex_Check(item.ptr()) && !PyBool_Check(item.ptr())) {
      offset += apply_integer(layout, axis, item);
    } else {
      refuse_index();
    }
  }
  return with_layout(tensor, layout, offset);
}

// A view of another shape, or None where only a copy can have it.
nb::object reshape_view(const TensorObject& tensor, const std::vector<int64_t>& shape) {
  const std::optional<Strided> layout = reshaped(tensor.layout, shape);
  return layout ? with_layout(tensor, *layout, 0) : nb::none();
}

nb::object dlpack_capsule(const TensorObject& tensor, bool versioned, bool copied, bool as_host) {
  if (!versioned && !tensor.writable)
    throw nb::buffer_error("a read-only tensor needs DLPack 1.0: pass max_version=(1, 0)");
  if (tensor.device->shares_host_memory()) wait_for(tensor);
  return export_dlpack(tensor, {.is_versioned = versioned,
                                .as_host = as_host,
                                .flags = (tensor.writable ? 0 : dlpack::kReadOnly) |
                                         (copied ? dlpack::kIsCopied : 0)});
}

void bind_fields(nb::class_<TensorObject>& cls) {
  cls.def_prop_ro("shape", [](const TensorObject& t) { return to_tuple(t.layout.shape_span()); })
      .def_prop_ro("strides",
                   [](const TensorObject& t) { return to_tuple(t.layout.strides_span()); })
      .def_prop_ro("ndim", [](const TensorObject& t) { return t.layout.rank; })
      .def_prop_ro("size", [](const TensorObject& t) { return element_count(t.layout); })
      .def_prop_ro("itemsize", [](const TensorObject& t) { return byte_size(t.dtype); })
      .def_prop_ro(
          "nbytes",
          [](const TensorObject& t) { return element_count(t.layout) * byte_size(t.dtype); })
      .def_prop_ro("writable", [](const TensorObject& t) { return t.writable; })
      .def_prop_ro("_dtype_name",
                   [](const TensorObject& t) { return std::string(info(t.dtype).python_name); })
      .def_prop_ro("_device_name", [](const TensorObject& t) { return t.device->name(); })
      .def("data_ptr",
           [](const TensorObject& t) {
             t.expose();
             return reinterpret_cast<uintptr_t>(t.data);
           })
      .def("is_contiguous", [](const TensorObject& t) { return is_contiguous(t.layout); });
}

// What `view_argument` sees, for tests and for error messages: (origin, dtype, low, high,
// writable), or None for something that is no array.
nb::object describe_argument(nb::handle object) {
  static constexpr const char* kOrigins[] = {"tensor", "numpy", "torch", "mlx", "other"};
  ArgumentView view;
  if (!view_argument(object.ptr(), &view)) return nb::none();
  return nb::make_tuple(kOrigins[static_cast<int>(view.origin)],
                        std::string(info(view.dtype).python_name), view.low, view.high,
                        view.writable);
}

}  // namespace

void bind_tensor(nb::module_& module) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const ArgumentProblem& problem) {
      const bool is_type = problem.kind() == ArgumentProblem::Kind::kType;
      PyErr_SetString(is_type ? PyExc_TypeError : PyExc_ValueError,
                      (std::string("the array ") + problem.what()).c_str());
    }
  });
  nb::class_<TensorObject> cls(module, "TensorBase", nb::is_weak_referenceable());
  bind_fields(cls);
  cls.def("_subscript", &subscript, nb::arg("key").none())
      .def("_reshape_view", &reshape_view, nb::arg("shape"))
      .def("_transposed",
           [](const TensorObject& t) { return with_layout(t, reversed_axes(t.layout), 0); })
      .def("_wait", &wait_for)
      .def("_dlpack", &dlpack_capsule, nb::arg("versioned"), nb::arg("copied"), nb::arg("as_host"))
      .def("_upload", &upload, nb::arg("array"))
      .def("_copy_from", &copy_from, nb::arg("source"))
      .def("_fill_bytes", &fill_bytes, nb::arg("size"), nb::arg("bits"))
      .def("_make_wait", &make_wait, nb::arg("stream"))
      .def("_dlpack_device", &dlpack_device_tuple)
      .def_prop_ro("_is_shared",
                   [](const TensorObject& t) { return t.device->shares_host_memory(); })
      .def("_numpy", [](nb::handle_t<TensorObject> self) { return to_numpy(self); });
  tensor_type = reinterpret_cast<PyTypeObject*>(cls.ptr());

  module.def("register_tensor_type", [](nb::handle type) {
    tensor_type = reinterpret_cast<PyTypeObject*>(nb::borrow(type).release().ptr());
  });
  module.def("allocate", &allocate, nb::arg("shape"), nb::arg("dtype"), nb::arg("zeroed"),
             nb::arg("device"));
  module.def("tensor_from_numpy", &tensor_from_numpy, nb::arg("array"));
  module.def("metal_tensor_from_numpy", &metal_tensor_from_numpy, nb::arg("array"),
             nb::arg("device"));
  module.def("tensor_from_exchange", &tensor_from_exchange, nb::arg("object"));

  module.def("describe_argument", &describe_argument, nb::arg("object").none());
}

}  // namespace enceladus
