// Buffer: a piece of memory that tensors view and launches keep alive. Targets derive from it
// (allocated memory) and so do the bindings (memory of a foreign array). Knows no element type.
#pragma once

#include <cstdint>

#include "runtime/common/resource.h"

namespace enceladus {

class Buffer : public Resource {
 public:
  Buffer(void* data, int64_t bytes) : data_(data), bytes_(bytes) {}
  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  void* data_;
  int64_t bytes_;
};

}  // namespace enceladus
