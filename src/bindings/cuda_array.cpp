#include "bindings/cuda_array.h"

#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/argument_view.h"
#include "bindings/devices.h"
#include "bindings/launch_errors.h"
#include "bindings/python_buffer.h"
#include "runtime/common/failure.h"
#include "runtime/cuda/device.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

using Kind = ArgumentProblem::Kind;

constexpr const char* kName = "__cuda_array_interface__";
constexpr int kOldestVersion = 2, kNewestVersion = 3;

[[noreturn]] void refuse(Kind kind, const std::string& problem) {
  throw ArgumentProblem(kind, problem);
}

// "has shape=(2, 3) in its __cuda_array_interface__".
std::string entry(const char* key, nb::handle value) {
  return std::string("has ") + key + "=" + short_repr(value.ptr()) + " in its " + kName;
}

nb::object find_interface(nb::handle object) {
  PyObject* found = PyObject_GetAttrString(object.ptr(), kName);
  if (found) return nb::steal(found);
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw nb::python_error();
  PyErr_Clear();
  return {};
}

nb::object optional_entry(const nb::dict& interface, const char* key) {
  return interface.contains(key) ? nb::object(interface[key]) : nb::none();
}

nb::object required_entry(const nb::dict& interface, const char* key) {
  if (interface.contains(key)) return interface[key];
  refuse(Kind::kType,
         std::string("has no `") + key + "` in its " + kName + ", which the protocol requires");
}

// What Python takes for an integer, where the type holds it.
template <class Integer>
std::optional<Integer> as_integer(nb::handle value) {
  Integer number = 0;
  if (PyIndex_Check(value.ptr()) && nb::try_cast(nb::int_(value), number)) return number;
  return std::nullopt;
}

int64_t integer(const char* key, nb::handle whole, nb::handle value) {
  if (const std::optional<int64_t> number = as_integer<int64_t>(value)) return *number;
  refuse(Kind::kType, entry(key, whole) + ", which must hold 64-bit integers");
}

std::vector<int64_t> integers(const char* key, nb::handle tuple) {
  if (!nb::isinstance<nb::tuple>(tuple))
    refuse(Kind::kType, entry(key, tuple) + ", which must be a tuple of integers");
  std::vector<int64_t> numbers;
  for (nb::handle value : nb::borrow<nb::tuple>(tuple))
    numbers.push_back(integer(key, tuple, value));
  return numbers;
}

void check_version(const nb::dict& interface) {
  const nb::object version = required_entry(interface, "version");
  const int64_t number = integer("version", version, version);
  if (number < kOldestVersion || number > kNewestVersion)
    refuse(Kind::kValue, entry("version", version) +
                             "; versions 2 and 3 can be passed, and what has `__dlpack__`");
}

void check_mask(const nb::dict& interface) {
  if (!optional_entry(interface, "mask").is_none())
    refuse(Kind::kValue, std::string("has a mask in its ") + kName +
                             ", which a kernel would not heed; pass the values and the mask as "
                             "two arrays without one");
}

std::optional<DType> dtype_of_code(std::string_view code) {
  static constexpr std::pair<std::string_view, DType> kCodes[] = {
      {"b1", DType::kInt1},    {"i1", DType::kInt8},    {"i2", DType::kInt16},
      {"i4", DType::kInt32},   {"i8", DType::kInt64},   {"u1", DType::kUInt8},
      {"u2", DType::kUInt16},  {"u4", DType::kUInt32},  {"u8", DType::kUInt64},
      {"f2", DType::kFloat16}, {"f4", DType::kFloat32}, {"f8", DType::kFloat64}};
  for (const auto& [known, dtype] : kCodes)
    if (known == code) return dtype;
  return std::nullopt;
}

DType required_dtype(const nb::dict& interface) {
  const nb::object given = required_entry(interface, "typestr");
  std::string text;
  if (!nb::try_cast(given, text)) refuse(Kind::kType, entry("typestr", given) + ", no string");
  const char order = text.empty() ? '\0' : text[0];
  const bool has_order = order == '<' || order == '>' || order == '|';
  const std::optional<DType> dtype =
      has_order ? dtype_of_code(std::string_view(text).substr(1)) : std::nullopt;
  if (!dtype)
    refuse(Kind::kType, entry("typestr", given) +
                            ", a type that kernels do not have; they have bool, integers of 8 to "
                            "64 bits, float16, float32 and float64, and more of what has "
                            "`__dlpack__`");
  if (byte_size(*dtype) > 1 && order != '<')
    refuse(Kind::kType, entry("typestr", given) +
                            ", no little-endian elements; pass a copy of the type '<" +
                            text.substr(1) + "'");
  return *dtype;
}

void set_strides(const nb::object& given, int64_t element, Strided& layout) {
  const std::vector<int64_t> strides = integers("strides", given);
  if (strides.size() != static_cast<size_t>(layout.rank))
    refuse(Kind::kValue, entry("strides", given) + ", but the shape " +
                             shape_text(layout.shape_span()) + " has " +
                             std::to_string(layout.rank) + " axes");
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    if (strides[axis] % element && layout.shape[axis] > 1)
      refuse(Kind::kValue, entry("strides", given) + ", of which " + std::to_string(strides[axis]) +
                               " is no multiple of the element size; pass a copy");
    layout.strides[axis] = strides[axis] / element;
  }
}

Strided required_layout(const nb::dict& interface, int64_t element) {
  const nb::object shape = required_entry(interface, "shape");
  const nb::object strides = optional_entry(interface, "strides");
  try {
    Strided layout = contiguous(integers("shape", shape));
    if (!strides.is_none()) set_strides(strides, element, layout);
    check_reach(layout, element);
    return layout;
  } catch (const std::invalid_argument& problem) {
    refuse(Kind::kValue, entry("shape", shape) + ": " + problem.what());
  }
}

// Sets address and whether it may be written.
void set_data(const nb::dict& interface, TensorObject& tensor) {
  const nb::object data = required_entry(interface, "data");
  if (!nb::isinstance<nb::tuple>(data) || nb::len(data) != 2)
    refuse(Kind::kType, entry("data", data) + ", which must be an address and a read-only flag");
  const std::optional<uint64_t> address = as_integer<uint64_t>(nb::object(data[0]));
  if (!address) refuse(Kind::kType, entry("data", data) + ", whose first item must be an address");
  const int read_only = PyObject_IsTrue(nb::object(data[1]).ptr());
  if (read_only < 0) throw nb::python_error();
  tensor.data = reinterpret_cast<void*>(*address);
  tensor.writable = read_only == 0;
  if (*address % static_cast<uint64_t>(byte_size(tensor.dtype)) != 0)
    refuse(Kind::kValue, "is not aligned to its element size; pass a copy");
}

// Where the elements are. An array without any lies on no device in particular.
Device& device_of(const TensorObject& tensor) {
  if (cuda::devices().empty())
    refuse(Kind::kValue, std::string("has ") + kName + ", but no CUDA device can be used here: " +
                             cuda::unavailable_reason());
  if (element_count(tensor.layout) == 0) {
    Device& current = current_device();
    return current.kind() == DeviceKind::kCuda ? current : cuda_device(0);
  }
  if (tensor.data == nullptr)
    refuse(Kind::kValue, std::string("has elements, but a null pointer in its ") + kName);
  try {
    return cuda_device_of_array(cuda::ordinal_of_memory(tensor.data));
  } catch (const DeviceFailure& failure) {
    refuse(Kind::kValue, std::string("has an address in its ") + kName +
                             " that is no memory of a GPU: " + failure.what());
  }
}

// The protocol's numbers of the legacy and the per-thread default stream are the driver's own
// handles of them.
void wait_for_producer(const nb::dict& interface, Device& device) {
  const nb::object stream = optional_entry(interface, "stream");
  if (stream.is_none()) return;
  const std::optional<uint64_t> handle = as_integer<uint64_t>(stream);
  if (!handle || *handle == 0)
    refuse(Kind::kValue, entry("stream", stream) +
                             "; it is None, 1 (the legacy default stream), 2 (the per-thread "
                             "one) or a stream's handle");
  cuda::wait_for(device, reinterpret_cast<void*>(*handle));
}

}  // namespace

std::optional<TensorObject> import_cuda_array(nb::handle object) {
  const nb::object found = find_interface(object);
  if (!found.is_valid()) return std::nullopt;
  if (!nb::isinstance<nb::dict>(found))
    refuse(Kind::kType,
           std::string("has a ") + kName + " that is no dict: " + short_repr(found.ptr()));
  const nb::dict interface = nb::borrow<nb::dict>(found);
  check_version(interface);
  check_mask(interface);
  TensorObject tensor;
  tensor.dtype = required_dtype(interface);
  set_data(interface, tensor);
  tensor.set_layout(required_layout(interface, byte_size(tensor.dtype)));
  tensor.device = &device_of(tensor);
  wait_for_producer(interface, *tensor.device);
  tensor.storage = Ref<PythonBuffer>::adopt(
      new PythonBuffer(nb::borrow(object), reinterpret_cast<void*>(tensor.low),
                       static_cast<int64_t>(tensor.high - tensor.low)));
  tensor.storage->expose();
  return tensor;
}

}  // namespace enceladus
