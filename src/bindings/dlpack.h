// The DLPack exchange format, versions 0 and 1: its structs (a stable C layout), and the way from
// and to our tensors. Only memory that the CPU can reach.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

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

constexpr int32_t kCpu = 1;
constexpr uint64_t kReadOnly = 1;
constexpr uint64_t kIsCopied = 2;

}  // namespace dlpack

// The array behind `object.__dlpack__()`, which the result keeps alive. Throws ArgumentProblem
// when it lies on another device or has a type that kernels do not have.
TensorObject import_dlpack(nanobind::handle object);

enum class DlpackVersion : uint8_t { kUnversioned, kVersioned };
// A capsule that owns a reference to the tensor's memory.
nanobind::object export_dlpack(const TensorObject& tensor, DlpackVersion version, uint64_t flags);

}  // namespace enceladus
