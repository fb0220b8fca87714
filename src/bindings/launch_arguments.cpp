#include "bindings/launch_arguments.h"

#include <nanobind/stl/string.h>

#include <bit>

#include "bindings/launch_errors.h"
#include "bindings/launch_scalars.h"
#include "bindings/torch_view.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

// First byte of each argument's part of the key.
enum : uint8_t { kKeyScalar = 1, kKeyPointer = 2 };

std::string named(const KernelState& kernel, size_t index) {
  return "argument `" + kernel.parameters[index].text + "` of `" + kernel.name + "`";
}

uint8_t integer_facts(const KernelParameter& parameter, uint64_t bits) {
  if (parameter.do_not_specialize) return 0;
  uint8_t facts = bits == 1 ? kFactEqualTo1 : 0;
  if (bits % 16 == 0 && !parameter.do_not_specialize_on_alignment) facts |= kFactDivisibleBy16;
  return facts;
}

}  // namespace

void LaunchArguments::classify(KeyWriter& key) {
  for (size_t index = 0; index < bound_.count; ++index) {
    if (kernel_.parameters[index].is_constexpr)
      add_constant(index, bound_.values[index], key);
    else
      classify_runtime(index, key);
  }
  if (device_ != nullptr && first_of(ArgumentOrigin::kTorch) >= 0)
    native_stream_ = torch_stream(*device_);
}

void LaunchArguments::add_constant(size_t index, PyObject* given, KeyWriter& key) {
  PyObject* value = plain_constant(given, converted_);
  write_constant(key, value, kernel_.objects, {kernel_.parameters[index].text, kernel_.name});
  arguments_[index] = {ArgumentKind::kConstexpr, DType::kInt1, 0,      false,
                       ArgumentOrigin::kOther,   value,        nullptr};
}

void LaunchArguments::classify_runtime(size_t index, KeyWriter& key) {
  PyObject* value = bound_.values[index];
  if (PyLong_CheckExact(value)) return add_integer(index, value, key);
  if (value == Py_None) return add_constant(index, value, key);
  if (PyFloat_CheckExact(value))
    return add_scalar(index, DType::kFloat32, float32_bits(PyFloat_AS_DOUBLE(value)), 0, key);
  if (PyBool_Check(value)) return add_scalar(index, DType::kInt1, value == Py_True, 0, key);
  if (is_tensor(value) && !tensor_object(value)->negative_stride)
    return add_tensor(index, *tensor_object(value), key);
  ArgumentView view;
  bool is_array = false;
  try {
    is_array = view_argument(value, &view);
  } catch (const ArgumentProblem& problem) {
    bool is_type = problem.kind() == ArgumentProblem::Kind::kType;
    raise(is_type ? PyExc_TypeError : PyExc_ValueError,
          named(kernel_, index) + " " + problem.what());
  } catch (nb::python_error& error) {
    // An array whose own library refuses (a sparse tensor of torch): say which argument it is.
    if (!error.matches(PyExc_Exception)) throw;
    std::string reason = nb::cast<std::string>(nb::str(error.value()));
    raise(PyExc_TypeError, named(kernel_, index) + " cannot be read: " + reason);
  }
  if (is_array) return add_array(index, view, key);
  if (!add_unusual(index, value, key)) refuse(index);
}

bool LaunchArguments::add_unusual(size_t index, PyObject* value, KeyWriter& key) {
  if (std::optional<ScalarBits> scalar = numpy_scalar(value)) {
    bool has_facts = is_integer(scalar->dtype) && !is_bool(scalar->dtype);
    uint8_t facts = has_facts ? integer_facts(kernel_.parameters[index], scalar->bits) : 0;
    add_scalar(index, scalar->dtype, scalar->bits, facts, key);
    return true;
  }
  if (PyLong_Check(value)) {
    add_integer(index, value, key);
    return true;
  }
  if (PyFloat_Check(value)) {
    add_scalar(index, DType::kFloat32, float32_bits(PyFloat_AS_DOUBLE(value)), 0, key);
    return true;
  }
  PyObject* plain = plain_constant(value, converted_);
  if (plain != value) {  // a tl.constexpr around a value
    bound_.values[index] = plain;
    classify_runtime(index, key);
    return true;
  }
  return stand_ins_ == StandIns::kAccepted && add_stand_in(index, value, key);
}

void LaunchArguments::add_integer(size_t index, PyObject* integer, KeyWriter& key) {
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(integer, &overflow);
  uint64_t bits = static_cast<uint64_t>(value);
  DType dtype = DType::kInt64;
  if (overflow > 0) {
    bits = PyLong_AsUnsignedLongLong(integer);
    dtype = DType::kUInt64;
    if (bits == ~uint64_t{0} && PyErr_Occurred()) overflow = -1;
  }
  if (overflow < 0) {
    PyErr_Clear();
    raise(PyExc_OverflowError, named(kernel_, index) + " is " + short_repr(integer) +
                                   ", which neither int64 nor uint64 holds");
  }
  if (overflow == 0 && value >= INT32_MIN && value <= INT32_MAX) {
    dtype = DType::kInt32;
    bits &= 0xffffffff;
  }
  add_scalar(index, dtype, bits, integer_facts(kernel_.parameters[index], bits), key);
}

void LaunchArguments::add_scalar(size_t index, DType dtype, uint64_t bits, uint8_t facts,
                                 KeyWriter& key) {
  key.bytes(kKeyScalar, static_cast<uint8_t>(dtype), facts);
  arguments_[index] = {ArgumentKind::kScalar, dtype,  facts, false, ArgumentOrigin::kOther,
                       bound_.values[index],  nullptr};
  push_slot(bits, 0, 0);
}

void LaunchArguments::add_pointer(size_t index, DType dtype, bool aligned, KeyWriter& key) {
  const KernelParameter& parameter = kernel_.parameters[index];
  bool has_fact =
      aligned && !parameter.do_not_specialize && !parameter.do_not_specialize_on_alignment;
  uint8_t facts = has_fact ? kFactDivisibleBy16 : 0;
  key.bytes(kKeyPointer, static_cast<uint8_t>(dtype), facts);
  arguments_[index] = {ArgumentKind::kPointer, dtype,  facts, true, ArgumentOrigin::kOther,
                       bound_.values[index],   nullptr};
}

void LaunchArguments::add_array(size_t index, ArgumentView& view, KeyWriter& key) {
  uint64_t address = reinterpret_cast<uint64_t>(view.data);
  add_pointer(index, view.dtype, address % 16 == 0, key);
  arguments_[index].unwritable_reason = view.unwritable_reason;
  if (view.device == nullptr) {
    host_objects_[host_count_] = view.array;
    host_slots_[host_count_++] = static_cast<uint16_t>(slots_);
  } else {
    note_device(index, view.device);
  }
  if (view.foreign_buffer)
    foreign_arrays_.push_back(
        {static_cast<uint16_t>(slots_), view.foreign_buffer, view.foreign_offset});
  note_array(index, view.origin, view.writable, view.resource);
  push_slot(address, view.low, view.high);
  if (view.held) held_.push_back(std::move(view.held));
}

void LaunchArguments::add_tensor(size_t index, const TensorObject& tensor, KeyWriter& key) {
  const auto address = reinterpret_cast<uint64_t>(tensor.data);
  add_pointer(index, tensor.dtype, address % 16 == 0, key);
  note_device(index, tensor.device);
  note_array(index, ArgumentOrigin::kTensor, tensor.writable, tensor.storage.get());
  push_slot(address, tensor.low, tensor.high);
}

// Before its slot is pushed.
void LaunchArguments::note_array(size_t index, ArgumentOrigin origin, bool writable,
                                 Resource* resource) {
  arguments_[index].writable = writable;
  arguments_[index].origin = origin;
  int& first = first_[static_cast<size_t>(origin)];
  if (first < 0) first = static_cast<int>(index);
  arrays_[array_count_++] = {static_cast<uint16_t>(index), static_cast<uint16_t>(slots_)};
  if (resource != nullptr) resources_[resource_count_++] = resource;
}

// MockTensor, or a dtype of NumPy or of the language: an array of that type, aligned unless the
// MockTensor says otherwise.
bool LaunchArguments::add_stand_in(size_t index, PyObject* value, KeyWriter& key) {
  nb::object described =
      nb::module_::import_("enceladus.compiled").attr("describe_stand_in")(nb::handle(value));
  if (described.is_none()) return false;
  std::optional<DType> dtype = dtype_from_python_name(text_of(nb::object(described[0]).ptr()));
  if (!dtype)
    raise(PyExc_TypeError, named(kernel_, index) + " stands for an array of " +
                               text_of(nb::object(described[0]).ptr()) +
                               ", which kernels do not have");
  add_pointer(index, *dtype, nb::cast<bool>(described[1]), key);
  push_slot(0, 0, 0);
  return true;
}

void LaunchArguments::push_slot(uint64_t bits, uint64_t low, uint64_t high) {
  slot_bits_[slots_] = bits;
  extents_[2 * slots_] = low;
  extents_[2 * slots_ + 1] = high;
  ++slots_;
}

void LaunchArguments::note_device(size_t index, Device* device) {
  if (device == device_) return;
  if (device_ == nullptr) {
    device_ = device;
    device_argument_ = index;
    return;
  }
  raise(PyExc_ValueError, "the arguments of `" + kernel_.name + "` are on different devices: `" +
                              kernel_.parameters[device_argument_].text + "` is on " +
                              device_->name() + ", `" + kernel_.parameters[index].text +
                              "` is on " + device->name());
}

void LaunchArguments::add_resource(Ref<Resource> resource) {
  resources_[resource_count_++] = resource.get();
  held_.push_back(std::move(resource));
}

bool LaunchArguments::arrays_disjoint() const {
  auto may_be_written = [&](const ArraySlot& array) {
    return !kernel_.written_known || kernel_.written[array.parameter];
  };
  for (size_t i = 0; i < array_count_; ++i) {
    const uint64_t* one = extents_ + 2 * arrays_[i].slot;
    for (size_t j = i + 1; j < array_count_; ++j) {
      const uint64_t* other = extents_ + 2 * arrays_[j].slot;
      bool overlap = one[0] < other[1] && other[0] < one[1];
      if (overlap && (may_be_written(arrays_[i]) || may_be_written(arrays_[j]))) return false;
    }
  }
  return true;
}

bool LaunchArguments::arrays_small() const {
  for (size_t i = 0; i < array_count_; ++i) {
    const uint64_t* extent = extents_ + 2 * arrays_[i].slot;
    uint64_t element = static_cast<uint64_t>(byte_size(arguments_[arrays_[i].parameter].dtype));
    if (extent[1] - extent[0] >= (uint64_t{1} << 31) * element) return false;
  }
  return true;
}

void LaunchArguments::refuse(size_t index) {
  PyObject* value = bound_.values[index];
  std::string message = named(kernel_, index) + " is " + short_repr(value) + " of type " +
                        type_name(value) + "; pass ";
  if (PyList_Check(value) || PyTuple_Check(value))
    message += "a NumPy array of it (numpy.array(...)), an enceladus.Tensor or a torch tensor";
  else if (PyUnicode_Check(value) || PyType_Check(value) || PyCallable_Check(value))
    message += "such a value to a parameter annotated `tl.constexpr`";
  else
    message +=
        "an array (enceladus.Tensor, NumPy, torch), a number or None, or annotate the "
        "parameter `tl.constexpr`";
  raise(PyExc_TypeError, message);
}

}  // namespace enceladus
