// Notices when a thread of a kernel runs out of its stack: the guard page below the fiber's stack
// faults, and instead of ending the process, the launch that runs on this OS thread is told. Faults
// of any other kind go to whoever handled them before.
#pragma once

#include <cstddef>
#include <cstdint>

namespace enceladus::simulator {

// While one exists, faults on this OS thread are looked at. Cheap; nests.
class StackGuard {
 public:
  // `is_guard` tells whether the faulting address is one of a guard page; then `overflow` is called
  // on a stack of its own with the address of the instruction. It must not return, but switch to a
  // context that knows how to go on.
  struct Owner {
    void* self;
    bool (*is_guard)(void* self, uintptr_t address);
    void (*overflow)(void* self, uintptr_t code);
    // Whether an address is an instruction of the kernel: a fault in a function that the kernel
    // called is put down to the call.
    bool (*is_code)(void* self, uintptr_t address);
  };

  explicit StackGuard(const Owner& owner);
  ~StackGuard();
  StackGuard(const StackGuard&) = delete;
  StackGuard& operator=(const StackGuard&) = delete;

 private:
  Owner owner_;
  const Owner* outer_;
};

}  // namespace enceladus::simulator
