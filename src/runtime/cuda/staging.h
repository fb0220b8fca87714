// Copies between pageable host memory and the device through pinned memory: two chunks that take
// turns, so that the host copies one while the device copies the other.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "runtime/cuda/context.h"

namespace enceladus::cuda {

class Staging {
 public:
  Staging(const Context& context, StreamHandle stream) : context_(context), stream_(stream) {}

  // Returns once `host` has been read; the device's copy is queued in the stream.
  void upload(DevicePointer to, const void* host, int64_t bytes);
  // Returns once `host` has been written.
  void download(void* host, DevicePointer from, int64_t bytes);

 private:
  struct Chunk {
    void* memory = nullptr;
    EventHandle event = nullptr;
    bool is_pending = false;
  };
  void prepare();
  void await(Chunk& chunk);
  void mark(Chunk& chunk);

  const Context& context_;
  StreamHandle stream_;
  std::mutex mutex_;
  std::array<Chunk, 2> chunks_;
};

}  // namespace enceladus::cuda
