#include "simulator/fiber.h"

#include <sys/mman.h>

#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

// The registers that a callee must keep, by the System V and the AAPCS64 conventions.
#if defined(__x86_64__) && defined(__linux__)
asm(R"(
.text
.p2align 4
.hidden enceladus_switch_fiber
.globl enceladus_switch_fiber
.type enceladus_switch_fiber, @function
enceladus_switch_fiber:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size enceladus_switch_fiber, .-enceladus_switch_fiber
)");
#else
extern "C" void enceladus_switch_fiber(void**, void*) {}
#endif

namespace enceladus::simulator {
namespace {

// A fiber that is stopped by a report never returns from its frames: for the address sanitizer
// their variables would stay out of scope when the stack is used again.
void forget_frames(uintptr_t low, size_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<void*>(low), bytes);
}

}  // namespace

FiberStacks::FiberStacks(size_t count) : bytes_(count * (kStackBytes + kGuardBytes)) {
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  base_ = reinterpret_cast<uintptr_t>(memory);
  for (size_t i = 0; i < count; ++i) {
    mprotect(reinterpret_cast<void*>(low(i) - kGuardBytes), kGuardBytes, PROT_NONE);
  }
}

FiberStacks::~FiberStacks() {
  forget_frames(base_, bytes_);
  munmap(reinterpret_cast<void*>(base_), bytes_);
}

void* FiberStacks::prepare(size_t index, void (*start)()) const {
  constexpr int kSavedRegisters = 6;
  forget_frames(low(index), kStackBytes);
  auto* top = reinterpret_cast<void**>(low(index) + kStackBytes);
  *--top = nullptr;  // where `start` would return to; also aligns the stack as after a call
  *--top = reinterpret_cast<void*>(start);
  for (int i = 0; i < kSavedRegisters; ++i) *--top = nullptr;
  return top;
}

}  // namespace enceladus::simulator
