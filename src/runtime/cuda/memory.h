// Device memory: a pool of our own with stream-ordered allocation, which keeps freed memory for the
// next allocation, and the buffers that come from it.
#pragma once

#include <new>
#include <string>
#include <utility>

#include "runtime/common/buffer.h"
#include "runtime/cuda/context.h"

namespace enceladus::cuda {

class MemoryPool {
 public:
  // All allocation and freeing is in the order of `stream`.
  MemoryPool(const Context& context, StreamHandle stream);

  // At least one byte, aligned to 256. When the device is full, what the pool keeps is given back
  // and the allocation tried again. Throws OutOfDeviceMemory.
  DevicePointer allocate(int64_t bytes);
  // Never throws: at the end of a process the driver may be gone already.
  void free(DevicePointer memory);

  const Context& context() const { return context_; }

 private:
  Result try_allocate(DevicePointer* memory, size_t bytes) const;

  const Context& context_;
  StreamHandle stream_;
  PoolHandle pool_ = nullptr;  // null on devices without pools, where allocation synchronizes
};

// A std::bad_alloc, so MemoryError in Python, that says how much was asked for and is left.
class OutOfDeviceMemory : public std::bad_alloc {
 public:
  explicit OutOfDeviceMemory(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

class CudaBuffer : public Buffer {
 public:
  CudaBuffer(MemoryPool& pool, int64_t bytes);
  ~CudaBuffer() override { pool_.free(reinterpret_cast<DevicePointer>(data())); }
  // The memory is freed behind what was launched.
  bool deletes_in_stream_order() const override { return true; }

 private:
  MemoryPool& pool_;
};

}  // namespace enceladus::cuda
