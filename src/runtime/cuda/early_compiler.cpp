#include "runtime/cuda/early_compiler.h"

#include <pthread.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/common/failure.h"
#include "runtime/cuda/nvrtc.h"

namespace enceladus::cuda {
namespace {

struct Thread {
  std::mutex mutex;
  std::thread thread;
  bool is_over = false;  // the process ends
};
Thread& own() {
  static auto* instance = new Thread;
  return *instance;
}

std::atomic<bool> is_expected{false};

// A thread's objects are destroyed before `exit` calls handlers; its own would come too late.
struct WaitsAtTheEnd {
  ~WaitsAtTheEnd() { wait_for_early_compiler(); }
};

void run(const std::function<void()>& work) {
  try {
    work();
  } catch (const DeviceFailure&) {
    // The first kernel says so.
  }
}

void start_once(std::function<void()> work) {
  static std::once_flag once;
  std::call_once(once, [&] {
    if (std::thread::hardware_concurrency() < 2) return;
    pthread_atfork(wait_for_early_compiler, nullptr, nullptr);
    static thread_local WaitsAtTheEnd waits;
    try {
      const std::lock_guard lock(own().mutex);
      if (own().is_over) return;
      own().thread = std::thread(run, std::move(work));
    } catch (const std::system_error&) {
      // No thread: the first kernel loads the compiler.
    }
  });
}

}  // namespace

void expect_compilation() { is_expected.store(true); }

void start_compiler_early(const std::string& architecture) {
  if (!is_expected.load()) return;
  start_once([architecture] {
    load_compiler();
    warm_compiler(architecture);
  });
}

void load_compiler_early() { start_once(load_compiler); }

void wait_for_early_compiler() {
  stop_warming();
  const std::lock_guard lock(own().mutex);
  if (own().thread.joinable()) own().thread.join();
}

void end_early_compiler() {
  {
    const std::lock_guard lock(own().mutex);
    own().is_over = true;
  }
  wait_for_early_compiler();
}

}  // namespace enceladus::cuda
