// What kernels have to say while they run: the first failure and the lines of tl.device_print. Any
// worker may write at any time; the host takes both at a synchronization.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/common/failure.h"

namespace enceladus::cpu {

class LaunchLog {
 public:
  // Keeps the failure unless there is one already.
  void add_failure(LaunchFailure failure);
  void add_line(std::string_view line);

  // Throws the failure and forgets it.
  void raise_failure();
  std::string take_printed();

  std::mutex& mutex() { return mutex_; }  // for the fork handlers

 private:
  std::mutex mutex_;
  std::optional<LaunchFailure> failure_;
  std::string printed_;
  std::atomic<bool> has_failure_{false};
  std::atomic<bool> has_printed_{false};
};

}  // namespace enceladus::cpu
