#include "simulator/stack_guard.h"

#include <ucontext.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>

namespace enceladus::simulator {
namespace {

thread_local const StackGuard::Owner* current_owner = nullptr;
thread_local uintptr_t overflow_code = 0;

// Two stacks of an OS thread: for the signal handler, and for what follows an overflow.
struct SpareStacks {
  static constexpr size_t kBytes = 64 * 1024;
  alignas(16) std::byte handler[kBytes];
  alignas(16) std::byte overflow[kBytes];
};

SpareStacks& spare_stacks() {
  thread_local auto stacks = std::make_unique<SpareStacks>();
  return *stacks;
}

struct Handler {
  std::mutex mutex;
  struct sigaction earlier = {};
};
Handler& handler() {
  static Handler& handler = *new Handler;
  return handler;
}

void after_overflow() { current_owner->overflow(current_owner->self, overflow_code); }

#if defined(__x86_64__) && defined(__linux__)
// The instruction of the kernel that the fault is about: where it happened, or the innermost return
// address into the kernel's code on the stack.
uintptr_t kernel_code(const StackGuard::Owner& owner, const ucontext_t& context) {
  auto code = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
  if (owner.is_code(owner.self, code)) return code + 1;  // as if it were a return address
  auto* word = reinterpret_cast<const uintptr_t*>(context.uc_mcontext.gregs[REG_RSP]);
  for (int i = 1; i < 64; ++i) {
    uintptr_t address = reinterpret_cast<uintptr_t>(word + i);
    if (!owner.is_guard(owner.self, address) && owner.is_code(owner.self, word[i])) return word[i];
  }
  return 0;
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& earlier = handler().earlier;
  if ((earlier.sa_flags & SA_SIGINFO) != 0) {
    earlier.sa_sigaction(signal, info, context);
  } else if (earlier.sa_handler == SIG_DFL || earlier.sa_handler == SIG_IGN) {
    sigaction(signal, &earlier, nullptr);  // the instruction faults again, with its usual end
  } else {
    earlier.sa_handler(signal);
  }
}

void on_fault(int signal, siginfo_t* info, void* raw_context) {
  const StackGuard::Owner* owner = current_owner;
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (owner == nullptr || !owner->is_guard(owner->self, address)) {
    return pass_on(signal, info, raw_context);
  }
  auto& context = *static_cast<ucontext_t*>(raw_context);
  overflow_code = kernel_code(*owner, context);
  uintptr_t top = reinterpret_cast<uintptr_t>(spare_stacks().overflow) + SpareStacks::kBytes;
  context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(top - 8);  // as after a call
  context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&after_overflow);
}

void install() {
  std::lock_guard lock(handler().mutex);
  struct sigaction now = {};
  sigaction(SIGSEGV, nullptr, &now);
  if (now.sa_sigaction == &on_fault) return;
  handler().earlier = now;
  struct sigaction ours = {};
  ours.sa_sigaction = &on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGSEGV, &ours, nullptr);
}

// The faulting stack is full: the handler needs another one, unless the thread has one already.
void provide_handler_stack() {
  stack_t now = {};
  sigaltstack(nullptr, &now);
  if ((now.ss_flags & SS_DISABLE) == 0) return;
  stack_t ours = {};
  ours.ss_sp = spare_stacks().handler;
  ours.ss_size = SpareStacks::kBytes;
  sigaltstack(&ours, nullptr);
}

// The stack goes with the thread-local memory that holds it.
void withdraw_handler_stack() {
  stack_t now = {};
  sigaltstack(nullptr, &now);
  if (now.ss_sp != spare_stacks().handler) return;
  now.ss_flags = SS_DISABLE;
  sigaltstack(&now, nullptr);
}
#else
void install() {}
void provide_handler_stack() {}
void withdraw_handler_stack() {}
#endif

}  // namespace

StackGuard::StackGuard(const Owner& owner) : owner_(owner), outer_(current_owner) {
  install();
  if (outer_ == nullptr) provide_handler_stack();
  current_owner = &owner_;
}

StackGuard::~StackGuard() {
  current_owner = outer_;
  if (outer_ == nullptr) withdraw_handler_stack();
}

}  // namespace enceladus::simulator
