// The C++ side of enceladus.Tensor: a strided view of a buffer. The launcher reads its fields
// directly, after an exact type check, so the byte extents are kept ready. The Python class
// derives from `_core.TensorBase` and adds what NumPy does for it; this file adds no behaviour.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "runtime/common/buffer.h"
#include "runtime/common/device.h"
#include "runtime/common/strided.h"
#include "support/dtype.h"

namespace enceladus {

struct TensorObject {
  void* data = nullptr;  // of the first element
  // Lowest byte, and the byte behind the highest, that the elements take; equal when empty.
  uint64_t low = 0;
  uint64_t high = 0;
  DType dtype = DType::kFloat32;
  bool writable = true;
  bool negative_stride = false;
  Device* device = nullptr;
  Ref<Buffer> storage;
  Strided layout;

  // Sets layout and what follows from it; `data` and `dtype` must be set.
  void set_layout(const Strided& strided);
  // To be called before somebody else is told where the memory lies: launches on it are in the
  // device's queue from now on when their call returns.
  void expose() const {
    storage->expose();
    device->default_stream().flush();
  }
};

// The type of every tensor object: TensorBase until the package registers its subclass.
extern PyTypeObject* tensor_type;

inline bool is_tensor(PyObject* object) { return Py_TYPE(object) == tensor_type; }
// Borrowed. Only for objects that `is_tensor` accepts.
inline TensorObject* tensor_object(PyObject* object) {
  return nanobind::inst_ptr<TensorObject>(nanobind::handle(object));
}
// A Python tensor around `value`.
nanobind::object make_tensor(TensorObject value);

// Waits for the launches that use the tensor; see `wait_for_stream`.
void wait_for(const TensorObject& tensor);

// Waits for a launch, giving up the interpreter lock meanwhile. Where a signal handler raises
// (Ctrl-C), abandons the launches up to that one, and throws what it raised.
void wait_interruptibly(Stream& stream, Ticket ticket);
// The same, then prints what tl.device_print wrote and raises what failed on the stream.
void wait_for_stream(Stream& stream, Ticket ticket);
// Writes the collected lines of tl.device_print to Python's standard output.
void print_device_lines(Stream& stream);

}  // namespace enceladus
