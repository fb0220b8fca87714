// Fibers: each thread of a simulated threadgroup has a stack of its own, and a switch saves the
// callee-saved registers and the stack pointer, nothing else: about 2 ns. They never leave the OS
// thread that runs the launch. Knows nothing of kernels or of the order in which fibers run.
//
// Exceptions must not cross a switch. A guard page lies below each stack.
#pragma once

#include <cstddef>
#include <cstdint>

namespace enceladus::simulator {

// Stores the caller's state, puts its stack pointer into `*save`, goes on at `load`.
extern "C" void enceladus_switch_fiber(void** save, void* load);

class FiberStacks {
 public:
  static constexpr size_t kStackBytes = 256 * 1024;
  static constexpr size_t kGuardBytes = 4096;

  // Throws std::bad_alloc.
  explicit FiberStacks(size_t count);
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  uintptr_t low(size_t index) const {
    return base_ + index * (kStackBytes + kGuardBytes) + kGuardBytes;
  }
  // Whether an address lies in one of the stacks (or a guard page).
  bool holds(uintptr_t address) const { return address - base_ < bytes_; }
  // Whether an address lies in a guard page.
  bool is_guard(uintptr_t address) const {
    return holds(address) && (address - base_) % (kStackBytes + kGuardBytes) < kGuardBytes;
  }
  // A stack pointer such that switching to it calls `start`, which must not return.
  void* prepare(size_t index, void (*start)()) const;

 private:
  uintptr_t base_ = 0;
  size_t bytes_ = 0;
};

}  // namespace enceladus::simulator
