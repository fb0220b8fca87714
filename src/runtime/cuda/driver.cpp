#include "runtime/cuda/driver.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "runtime/cuda/library.h"

namespace enceladus::cuda {
namespace {

constexpr int kOldestDriver = 12000;

enum class State : uint8_t { kUntouched, kUsable, kForked };
std::atomic<State> state{State::kUntouched};

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void* open_driver() {
  static constexpr const char* kNames[] = {"libcuda.so.1"};
  std::string problem;
  void* library = load_library(kNames, problem);
  if (!library) fail("there is no CUDA driver here: " + problem);
  return library;
}

template <class Function>
void bind(void* library, const char* symbol, Function*& function) {
  function = reinterpret_cast<Function*>(find_symbol(library, symbol));
}

// The first symbol that the library lacks; null where it has all.
const char* bind_all(void* library, Driver& table) {
  const char* missing = nullptr;
#define ENC_DRIVER_FUNCTION(member, symbol, ...) \
  bind(library, symbol, table.member);           \
  if (!table.member && !missing) missing = symbol;
#define ENC_NEWER_DRIVER_FUNCTION(member, symbol, ...) bind(library, symbol, table.member);
#include "runtime/cuda/driver_functions.def"
#undef ENC_DRIVER_FUNCTION
  return missing;
}

void check_version(const Driver& table, const char* missing) {
  int version = 0;
  if (table.driver_version) table.driver_version(&version);
  if (version >= kOldestDriver && !missing) return;
  std::string message = "the CUDA driver is too old: it serves CUDA " + version_text(version) +
                        ", and Enceladus needs " + version_text(kOldestDriver) + " or newer";
  if (missing) message += " (it lacks " + std::string(missing) + ")";
  fail(message);
}

Driver load_driver() {
  Driver table;
  const char* missing = bind_all(open_driver(), table);
  check_version(table, missing);
  const Result result = table.init(0);
  if (result == kNoDevice)
    fail("the CUDA driver sees no GPU: cuInit answered " + error_text(table, result));
  if (result != kSuccess) fail("cuInit answered " + error_text(table, result));
  state.store(State::kUsable);
  pthread_atfork(nullptr, nullptr, [] { state.store(State::kForked); });
  return table;
}

}  // namespace

const Driver& driver() {
  if (state.load(std::memory_order_relaxed) == State::kForked)
    fail(
        "this process was forked from one that used CUDA, which CUDA does not survive: start it "
        "with multiprocessing's \"spawn\" or \"forkserver\" method, or use CUDA in the child "
        "alone");
  static const Driver* table = new Driver(load_driver());
  return *table;
}

bool is_driver_usable() { return state.load() == State::kUsable; }

std::string error_text(const Driver& driver, Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.error_name) driver.error_name(result, &name);
  if (driver.error_string) driver.error_string(result, &text);
  std::string full = name ? name : "CUDA error " + std::to_string(result);
  if (text) full += std::string(" (") + text + ")";
  return full;
}

}  // namespace enceladus::cuda
