// What kernels report: the first tl.device_assert that failed, written to a small buffer on the
// device and read at a synchronization. One buffer a device: reports name their kernel through the
// launch that used it last.
#pragma once

#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/cuda/memory.h"
#include "runtime/cuda/staging.h"
#include "support/artifact.h"

namespace enceladus::cuda {

class Messages {
 public:
  Messages(MemoryPool& pool, Staging& staging) : pool_(pool), staging_(staging) {}

  // The buffer's address for a launch of `kernel`. Under the stream's lock.
  DevicePointer prepare(const Artifact& artifact, StreamHandle stream);
  // Throws LaunchFailure for an assertion that failed since the last call. Waits for the device
  // where a kernel with assertions was launched, and is free otherwise.
  void raise();

 private:
  struct Pending {
    DevicePointer buffer = 0;
    std::string kernel;
    std::vector<std::string> texts;
  };
  MemoryPool& pool_;
  Staging& staging_;
  std::mutex mutex_;
  std::vector<Pending> pending_;  // one for each kernel, in order of their first launch
};

}  // namespace enceladus::cuda
