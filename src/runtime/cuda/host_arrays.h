// A launch on host memory: arrays are copied to the device before it and those that the kernel
// writes are copied back behind it. Arrays that overlap share one copy, so that they alias on the
// device as they do on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/common/stream.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/staging.h"

namespace enceladus::cuda {

class HostArrays {
 public:
  // Allocates and queues the copies to the device.
  HostArrays(const Launch& launch, MemoryPool& pool, Staging& staging);
  ~HostArrays();

  // The launch's parameters with addresses on the device.
  std::span<const uint64_t> parameters() const { return parameters_; }
  // Waits for the launch and writes what the kernel may have written back to the host.
  void copy_back();

 private:
  // Host bytes [low, high) and their place on the device.
  struct Region {
    uint64_t low = 0;
    uint64_t high = 0;
    bool is_used = false;
    bool is_written = false;
    DevicePointer memory = 0;
    DevicePointer first = 0;  // where `low` is, at the same offset from a multiple of 256
  };
  void collect(const Launch& launch);
  void merge();
  void place(Region& region);
  void translate(const Launch& launch);

  MemoryPool& pool_;
  Staging& staging_;
  std::vector<Region> regions_;  // by address, apart from one another
  std::vector<uint64_t> parameters_;
};

}  // namespace enceladus::cuda
