// A GPU's primary context, the one that PyTorch and CuPy use as well: makes it current for a scope,
// checks the driver's answers and turns them into errors that name the call and the kernel.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "runtime/cuda/driver.h"

namespace enceladus::cuda {

// CUdevice_attribute.
inline constexpr int kMultiprocessors = 16;
inline constexpr int kSharedBytesOptIn = 97;
inline constexpr int kMajor = 75;

class Context {
 public:
  // Retains the primary context of the device, for the rest of the process.
  Context(const Driver& driver, int ordinal);

  const Driver& driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  DeviceHandle device() const { return device_; }
  int attribute(int which) const;

  // Throws DeviceFailure unless the call succeeded. An error that ends the context is remembered:
  // every later call then says so.
  void check(Result result, const char* call, std::string_view kernel = {}) const;

  // Whose kernels may have caused what a synchronization finds; says so in its message.
  void check_pending(Result result, const char* call, const std::string& kernels) const;

  // Throws after a fork and in a context that was lost.
  void check_usable() const;
  bool is_lost() const { return lost_.load(std::memory_order_relaxed); }

  // What tensor maps of arrays without elements point to, since the driver describes none: 256
  // bytes of zeros to read, and behind them as many for stores that nobody sees. Made once.
  DevicePointer blank_memory() const;
  static constexpr size_t kBlankBytes = 256;

  // The context is current in this thread while one of these lives. Throws after a fork and in a
  // context that was lost.
  class Scope {
   public:
    explicit Scope(const Context& context);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    const Driver* popped_by_ = nullptr;
  };

 private:
  [[noreturn]] void fail(Result result, std::string message) const;

  const Driver& driver_;
  const int ordinal_;
  DeviceHandle device_ = 0;
  ContextHandle handle_ = nullptr;
  mutable std::atomic<bool> lost_{false};
  mutable std::once_flag made_blank_;
  mutable DevicePointer blank_ = 0;
};

}  // namespace enceladus::cuda
