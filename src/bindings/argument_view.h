// What a launch needs to know of an array argument, whichever library it comes from: where its
// elements are, of what type, and whether they may be written. Tensor and NumPy take tens of
// nanoseconds and allocate nothing. Not: scalars, `None`, specialization (launcher).
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "bindings/numpy_view.h"
#include "runtime/common/device.h"
#include "runtime/common/resource.h"
#include "support/dtype.h"

namespace enceladus {

enum class ArgumentOrigin : uint8_t { kTensor, kNumpy, kTorch, kMlx, kOther };
constexpr size_t kArgumentOrigins = 5;

struct ArgumentView {
  void* data = nullptr;  // of the first element; alignment facts are about this address
  uint64_t low = 0;      // byte addresses [low, high) of the elements; equal when there are none
  uint64_t high = 0;
  DType dtype = DType::kFloat32;
  ArgumentOrigin origin = ArgumentOrigin::kOther;
  bool writable = false;
  // Why it is not, where that is no flag of the array's own: "is a broadcast MLX array".
  const char* unwritable_reason = nullptr;
  PyObject* array = nullptr;  // the NumPy array in which the elements lie, borrowed; or null
  // metal: the buffer of another library (id<MTLBuffer>) that holds the elements from there on.
  void* foreign_buffer = nullptr;
  uint64_t foreign_offset = 0;
  Device* device = nullptr;  // null: memory of the host, which every device takes
  // What an asynchronous launch lists in Launch::resources: the memory of a Tensor, borrowed, or
  // what `held` owns. Null for NumPy and torch: a launch that does not wait holds them with
  // `hold_array`.
  Resource* resource = nullptr;
  Ref<Resource> held;
};

// An array that cannot be a kernel argument. The message starts with the array ("has a negative
// stride"), so that the launcher can put the kernel and the argument's name before it.
class ArgumentProblem : public std::runtime_error {
 public:
  enum class Kind : uint8_t { kType, kValue };
  ArgumentProblem(Kind kind, const std::string& message)
      : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// False when the object is no array. Throws ArgumentProblem, or nanobind::python_error when the
// object's own methods fail. Needs the interpreter lock.
bool view_argument(PyObject* object, ArgumentView* view);

// The view of a NumPy array; throws as `view_argument`.
void view_numpy(const NumpyArray& array, ArgumentView* view);

// The device on which an array's own library says that it lies. Throws ArgumentProblem.
Device& cuda_device_of_array(int index);

// A resource that keeps the object alive until it is released.
Ref<Resource> hold_array(PyObject* object);

}  // namespace enceladus
