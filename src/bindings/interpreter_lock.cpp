#include "bindings/interpreter_lock.h"

#include <pthread.h>

#include <chrono>
#include <optional>
#include <thread>

#include "runtime/cuda/early_compiler.h"

namespace enceladus {
namespace nb = nanobind;
namespace {

constexpr std::chrono::seconds kLongestWait(10);
constexpr std::chrono::milliseconds kInterval(1);

// All read and written with the interpreter lock held.
int inside = 0;
std::optional<std::thread::id> ending;  // the thread that ends the interpreter
thread_local int depth = 0;             // one's own share of `inside`

[[noreturn]] void sleep_forever() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void wait_until_left() {
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (inside > 0 && std::chrono::steady_clock::now() < end) {
    const InterpreterUnlocked unlocked;
    std::this_thread::sleep_for(kInterval);
  }
}

// Python's own handlers of the exit run before those of libraries.
void end_with_the_interpreter() {
  ending = std::this_thread::get_id();
  wait_until_left();
  const InterpreterUnlocked unlocked;
  cuda::end_early_compiler();
}

}  // namespace

void listen_for_the_end() {
  // A fork's child has the forking thread alone.
  pthread_atfork(nullptr, nullptr, [] { inside = depth; });
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end_with_the_interpreter));
}

InterpreterUnlocked::~InterpreterUnlocked() {
  try {
    PyEval_RestoreThread(state_);
  } catch (...) {  // the unwinding of pthread_exit, which ends the process where it is not let on
    sleep_forever();
  }
}

BeforeInterpreterEnds::BeforeInterpreterEnds() {
  if (depth == 0 && ending && *ending != std::this_thread::get_id()) {
    const InterpreterUnlocked unlocked;
    sleep_forever();
  }
  ++depth;
  ++inside;
}

BeforeInterpreterEnds::~BeforeInterpreterEnds() {
  --depth;
  --inside;
}

}  // namespace enceladus
