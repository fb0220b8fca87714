// What kernels report: the first tl.device_assert that failed, which the device writes to words of
// the host's memory (`CudaKernel::message_words`), read at a synchronization. Keeps the kernels
// that have something to read.
#pragma once

#include <mutex>
#include <vector>

#include "runtime/cuda/kernel.h"

namespace enceladus::cuda {

class Messages {
 public:
  // The kernel was launched.
  void add(CudaKernel& kernel);
  // Throws LaunchFailure for an assertion that failed since the last call, in a launch that is
  // done.
  void raise();

 private:
  std::mutex mutex_;
  std::vector<Ref<CudaKernel>> launched_;  // each once
};

}  // namespace enceladus::cuda
