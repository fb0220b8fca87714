#include "support/deep_stack.h"

#include <pthread.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

namespace enceladus {
namespace {

// A kernel of 20,000 chained operations, the most that the pipeline takes, compiles on this much.
constexpr size_t kEnough = size_t{6} << 20;
// Address space; what is not used takes no memory.
constexpr size_t kDeep = size_t{64} << 20;

// The lowest address of this thread's stack; 0 where the system does not say.
uintptr_t lowest_address() {
#ifdef __APPLE__
  const pthread_t self = pthread_self();
  return reinterpret_cast<uintptr_t>(pthread_get_stackaddr_np(self)) -
         pthread_get_stacksize_np(self);
#else
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<uintptr_t>(lowest);
#endif
}

struct Task {
  const std::function<void()>& work;
  std::exception_ptr failure;
};

void* run(void* argument) {
  Task& task = *static_cast<Task*>(argument);
  try {
    task.work();
  } catch (...) {
    task.failure = std::current_exception();
  }
  return nullptr;
}

[[noreturn]] void fail(const char* call, int error) {
  throw std::runtime_error(std::string("the compiler needs a thread with a deep stack, but ") +
                           call + " failed: " + std::strerror(error));
}

}  // namespace

bool has_deep_stack() {
  thread_local const uintptr_t lowest = lowest_address();
  const char here = 0;
  return reinterpret_cast<uintptr_t>(&here) - lowest >= kEnough;
}

void with_deep_stack(const std::function<void()>& work) {
  if (has_deep_stack()) return work();
  Task task{work, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kDeep);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, &run, &task);
  pthread_attr_destroy(&attributes);
  if (error != 0) fail("pthread_create", error);
  pthread_join(thread, nullptr);
  if (task.failure) std::rethrow_exception(task.failure);
}

}  // namespace enceladus
