#include "runtime/cuda/early_compiler.h"

#include <pthread.h>

#include <mutex>
#include <system_error>
#include <thread>

#include "runtime/common/failure.h"
#include "runtime/cuda/nvrtc.h"

namespace enceladus::cuda {
namespace {

struct Thread {
  std::mutex mutex;
  std::thread thread;
};
Thread& own() {
  static auto* instance = new Thread;
  return *instance;
}

void run(const std::string& architecture) {
  try {
    load_compiler();
    warm_compiler(architecture);
  } catch (const DeviceFailure&) {
    // The first kernel says so.
  }
}

}  // namespace

void start_compiler_early(const std::string& architecture) {
  static std::once_flag once;
  std::call_once(once, [&] {
    if (std::thread::hardware_concurrency() < 2) return;
    pthread_atfork(wait_for_early_compiler, nullptr, nullptr);
    try {
      const std::lock_guard lock(own().mutex);
      own().thread = std::thread(run, architecture);
    } catch (const std::system_error&) {
      // No thread: the first kernel loads the compiler.
    }
  });
}

void wait_for_early_compiler() {
  const std::lock_guard lock(own().mutex);
  if (own().thread.joinable()) own().thread.join();
}

}  // namespace enceladus::cuda
