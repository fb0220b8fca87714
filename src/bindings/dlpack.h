// The DLPack exchange format, versions 0 and 1: its structs (a stable C layout), and the way from
// and to our tensors. Memory of the CPU, of NVIDIA GPUs and of Metal, where `data` is a buffer's
// handle (id<MTLBuffer>) and `byte_offset` leads to the elements.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>

#include "bindings/tensor.h"

namespace enceladus {

namespace dlpack {

struct Device {
  int32_t type;
  int32_t index;
};

struct ElementType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t rank;
  ElementType element_type;
  int64_t* shape;
  int64_t* strides;  // elements; null for C order
  uint64_t byte_offset;
};

struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

struct ManagedTensorVersioned {
  struct {
    uint32_t major;
    uint32_t minor;
  } version;
  void* context;
  void (*deleter)(ManagedTensorVersioned*);
  uint64_t flags;
  Tensor tensor;
};

// What a library offers at `type.__dlpack_c_exchange_api__`: views without Python calls.
struct ExchangeApi {
  struct Header {
    uint32_t major;
    uint32_t minor;
    Header* previous;
  } header;
  int (*allocate)(Tensor*, ManagedTensorVersioned**, void*,
                  void (*)(void*, const char*, const char*));
  int (*to_managed)(void* object, ManagedTensorVersioned** result);
  int (*from_managed)(ManagedTensorVersioned* managed, void** object);
  // Non-owning; 0, or -1 with a Python exception set.
  int (*view)(void* object, Tensor* result);
  int (*current_work_stream)(int32_t device_type, int32_t device_index, void** stream);
};

constexpr int32_t kCpu = 1;
constexpr int32_t kCuda = 2;
constexpr int32_t kPinned = 3;  // host memory of CUDA
constexpr int32_t kMetal = 8;
constexpr int32_t kManaged = 13;
constexpr uint64_t kReadOnly = 1;
constexpr uint64_t kIsCopied = 2;

}  // namespace dlpack

// How DLPack names a device.
dlpack::Device dlpack_device(const Device& device);

// Nothing for a type that kernels do not have.
std::optional<DType> dlpack_dtype(const dlpack::ElementType& type);

// The array behind `object.__dlpack__()`, which the result keeps alive. Throws ArgumentProblem
// when it lies on another device or has a type that kernels do not have.
TensorObject import_dlpack(nanobind::handle object);

struct DlpackExport {
  bool is_versioned = false;
  bool as_host = false;  // as memory of the CPU, which the device must share
  uint64_t flags = 0;
};
// A capsule that owns a reference to the tensor's memory.
nanobind::object export_dlpack(const TensorObject& tensor, const DlpackExport& options);

}  // namespace enceladus
