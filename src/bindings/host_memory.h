// Memory of NumPy arrays, wrapped for a Metal device once and kept as long as the array that owns
// it lives: repeated launches on one array, on views of it, and tensors that share its memory all
// use the same MTLBuffer. Needs the interpreter lock. Not: copies of what cannot be wrapped
// (runtime).
#pragma once

#include <array>
#include <span>

#include "bindings/numpy_view.h"
#include "runtime/metal/argument_layout.h"
#include "runtime/metal/device.h"

namespace enceladus {

// The pages around the memory of the array's owner, wrapped now where they were not yet; null where
// they cannot be. Borrowed: lives until the owner dies.
metal::WrappedMemory* wrapped_memory(const NumpyArray& array, metal::MetalDevice& device);

// That of every array of one launch; nothing where the device is not Metal's, or one has none.
class WrappedArrays {
 public:
  // `arrays`: NumPy's, null for what is none.
  WrappedArrays(std::span<PyObject* const> arrays, Device& device);
  std::span<Buffer* const> buffers() const { return {buffers_.data(), count_}; }

 private:
  size_t count_ = 0;
  std::array<Buffer*, metal::kMostBuffers> buffers_;
};

// How many arrays have memory that is wrapped, for tests.
size_t wrapped_memory_count();

}  // namespace enceladus
