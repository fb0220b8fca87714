#include "bindings/dlpack.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include "bindings/argument_view.h"
#include "bindings/devices.h"
#include "bindings/launch_errors.h"
#include "runtime/cpu/device.h"
#include "runtime/cuda/device.h"

namespace enceladus {
namespace nb = nanobind;
namespace {

using dlpack::ManagedTensor;
using dlpack::ManagedTensorVersioned;

enum ElementCode : uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kBFloat = 4,
  kBool = 6,
  kFloat8E4M3 = 10,  // kDLFloat8_e4m3fn
  kFloat8E5M2 = 12
};

constexpr dlpack::ElementType element_type(DType dtype) {
  const auto bits = static_cast<uint8_t>(8 * byte_size(dtype));
  if (dtype == DType::kBFloat16) return {kBFloat, bits, 1};
  if (dtype == DType::kFloat8E4M3) return {kFloat8E4M3, bits, 1};
  if (dtype == DType::kFloat8E5M2) return {kFloat8E5M2, bits, 1};
  switch (info(dtype).kind) {
    case DTypeKind::kBool:
      return {kBool, bits, 1};
    case DTypeKind::kSigned:
      return {kInt, bits, 1};
    case DTypeKind::kUnsigned:
      return {kUInt, bits, 1};
    case DTypeKind::kFloat:
      break;
  }
  return {kFloat, bits, 1};
}

// By code and bytes.
constexpr auto kByElementType = [] {
  std::array<std::array<std::optional<DType>, 9>, 16> table{};
  for (const DTypeInfo& record : kDTypes) {
    const dlpack::ElementType type = element_type(record.dtype);
    table[type.code][type.bits / 8] = record.dtype;
  }
  return table;
}();

// Memory of an imported capsule; its deleter may belong to Python code.
template <class Managed>
class DlpackBuffer : public Buffer {
 public:
  // `place`: what makes the memory known to a Metal device.
  DlpackBuffer(Managed* managed, Ref<Buffer> place, void* data, int64_t bytes)
      : Buffer(data, bytes), managed_(managed), place_(std::move(place)) {
    expose();
  }
  ~DlpackBuffer() override {
    place_ = {};  // before its memory goes
    if (!managed_->deleter || !Py_IsInitialized()) return;
    nb::gil_scoped_acquire lock;
    managed_->deleter(managed_);
  }
  bool deletes_anywhere() const override { return false; }

 private:
  Managed* managed_;
  Ref<Buffer> place_;
};

// The stream on which memory of a GPU is to be ready: the driver's default one, called 1.
nb::object stream_for(const Device& device) {
  return device.kind() == DeviceKind::kCuda ? nb::object(nb::int_(1)) : nb::none();
}

nb::object request_capsule(nb::handle object, const Device& device) {
  nb::object stream = stream_for(device);
  try {
    return object.attr("__dlpack__")(nb::arg("stream") = stream,
                                     nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    return object.attr("__dlpack__")(nb::arg("stream") = stream);
  }
}

Device& device_of(nb::handle object) {
  const nb::object named = object.attr("__dlpack_device__")();
  if (!nb::isinstance<nb::tuple>(named))
    throw ArgumentProblem(ArgumentProblem::Kind::kType,
                          "has a __dlpack_device__ that is no tuple: " + short_repr(named.ptr()));
  const auto device = nb::borrow<nb::tuple>(named);
  const int type = nb::cast<int>(nb::int_(device[0]));
  if (type == dlpack::kCpu || type == dlpack::kPinned) return cpu::device();
  if (type == dlpack::kCuda || type == dlpack::kManaged)
    return cuda_device_of_array(nb::cast<int>(nb::int_(device[1])));
  if (type == dlpack::kMetal)
    if (Device* device = metal_device()) return *device;
  throw ArgumentProblem(ArgumentProblem::Kind::kValue,
                        "lies on DLPack device type " + std::to_string(type) +
                            ", which kernels cannot reach; copy it to the CPU first");
}

Strided required_layout(const dlpack::Tensor& source, int64_t element) try {
  Strided layout = contiguous({source.shape, static_cast<size_t>(source.rank)});
  if (source.strides) std::copy_n(source.strides, source.rank, layout.strides);
  check_reach(layout, element);
  return layout;
} catch (const std::invalid_argument& problem) {
  throw ArgumentProblem(ArgumentProblem::Kind::kValue,
                        std::string("cannot be taken: ") + problem.what());
}

DType required_dtype(const dlpack::ElementType& type) {
  if (const std::optional<DType> dtype = dlpack_dtype(type)) return *dtype;
  throw ArgumentProblem(ArgumentProblem::Kind::kType,
                        "has DLPack elements of code " + std::to_string(type.code) + " and " +
                            std::to_string(type.bits) + " bits, which kernels do not have");
}

template <class Managed>
TensorObject take_over(Managed* managed, Device& device, bool writable) {
  const dlpack::Tensor& source = managed->tensor;
  TensorObject tensor;
  tensor.dtype = required_dtype(source.element_type);
  tensor.writable = writable;
  tensor.device = &device;
  void* first = source.data;
  Ref<Buffer> place;
  if (is_metal(device) && source.device.type != dlpack::kMetal) {
    tensor.device = &cpu::device();  // MLX gives the host's address of what it says is Metal's
  } else if (is_metal(device) && source.data) {
    place = static_cast<metal::MetalDevice&>(device).import_buffer(source.data);
    first = place->data();
  }
  tensor.data = static_cast<char*>(first) + source.byte_offset;
  tensor.set_layout(required_layout(source, byte_size(tensor.dtype)));
  tensor.storage = Ref<DlpackBuffer<Managed>>::adopt(
      new DlpackBuffer<Managed>(managed, std::move(place), reinterpret_cast<void*>(tensor.low),
                                static_cast<int64_t>(tensor.high - tensor.low)));
  return tensor;
}

// What an exported capsule owns.
struct ExportContext {
  Ref<Buffer> storage;
  Strided layout;
};

template <class Managed>
void delete_export(Managed* managed) {
  delete static_cast<ExportContext*>(managed->context);
  delete managed;
}

// Fills in where the elements are.
void set_place(const TensorObject& tensor, bool as_host, dlpack::Tensor& result) {
  result.data = tensor.data;
  result.device = as_host ? dlpack::Device{dlpack::kCpu, 0} : dlpack_device(*tensor.device);
  if (as_host || !is_metal(*tensor.device)) return;
  const metal::BoundPointer found = static_cast<metal::MetalDevice&>(*tensor.device)
                                        .find(reinterpret_cast<uint64_t>(tensor.data));
  result.data = found.buffer;
  result.byte_offset = found.offset;
}

template <class Managed>
Managed* new_export(const TensorObject& tensor, bool as_host) {
  auto context = std::make_unique<ExportContext>(ExportContext{tensor.storage, tensor.layout});
  auto* managed = new Managed{};
  dlpack::Tensor& result = managed->tensor;
  result.rank = context->layout.rank;
  result.element_type = element_type(tensor.dtype);
  result.shape = context->layout.shape;
  result.strides = context->layout.strides;
  set_place(tensor, as_host, result);
  managed->deleter = &delete_export<Managed>;
  managed->context = context.release();
  return managed;
}

// A consumer renames the capsule it takes over; one that nobody took still owns its tensor.
template <class Managed>
void delete_capsule(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

constexpr const char* kName = "dltensor";
constexpr const char* kVersionedName = "dltensor_versioned";

}  // namespace

dlpack::Device dlpack_device(const Device& device) {
  if (device.kind() == DeviceKind::kCuda) return {dlpack::kCuda, cuda::ordinal(device)};
  if (is_metal(device)) return {dlpack::kMetal, 0};
  return {dlpack::kCpu, 0};
}

std::optional<DType> dlpack_dtype(const dlpack::ElementType& type) {
  if (type.lanes != 1 || type.code >= kByElementType.size() || type.bits % 8 || type.bits > 64)
    return std::nullopt;
  return kByElementType[type.code][type.bits / 8];
}

TensorObject import_dlpack(nb::handle object) {
  Device& device = device_of(object);
  nb::object capsule = request_capsule(object, device);
  // JAX arrays are values: nothing may write to them, whatever the capsule can express.
  const auto module = nb::cast<std::string>(nb::str(object.type().attr("__module__")));
  const bool is_value = module.rfind("jax", 0) == 0;
  if (PyCapsule_IsValid(capsule.ptr(), kVersionedName)) {
    auto* managed =
        static_cast<ManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), kVersionedName));
    TensorObject tensor =
        take_over(managed, device, !is_value && !(managed->flags & dlpack::kReadOnly));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    return tensor;
  }
  auto* managed = static_cast<ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), kName));
  if (!managed) throw nb::python_error();
  TensorObject tensor = take_over(managed, device, !is_value);
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  return tensor;
}

nb::object export_dlpack(const TensorObject& tensor, const DlpackExport& options) {
  tensor.expose();
  if (!options.is_versioned) {
    auto* managed = new_export<ManagedTensor>(tensor, options.as_host);
    return nb::steal(PyCapsule_New(
        managed, kName, [](PyObject* capsule) { delete_capsule<ManagedTensor>(capsule, kName); }));
  }
  auto* managed = new_export<ManagedTensorVersioned>(tensor, options.as_host);
  managed->version = {1, 0};
  managed->flags = options.flags;
  return nb::steal(PyCapsule_New(managed, kVersionedName, [](PyObject* capsule) {
    delete_capsule<ManagedTensorVersioned>(capsule, kVersionedName);
  }));
}

}  // namespace enceladus
