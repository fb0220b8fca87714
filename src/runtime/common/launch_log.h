// What kernels have to say while they run: the first failure and the lines of tl.device_print. Any
// thread may write at any time; the host takes both at a synchronization.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>

namespace enceladus {

class LaunchLog {
 public:
  // Keeps the failure, a LaunchFailure or a DeviceFailure, unless there is one already.
  void add_failure(std::exception_ptr failure);
  bool has_failure() const { return has_failure_.load(std::memory_order_acquire); }
  void add_line(std::string_view line);

  // Throws the failure and forgets it.
  void raise_failure();
  std::string take_printed();

  std::mutex& mutex() { return mutex_; }  // for the fork handlers

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::string printed_;
  std::atomic<bool> has_failure_{false};
  std::atomic<bool> has_printed_{false};
};

}  // namespace enceladus
