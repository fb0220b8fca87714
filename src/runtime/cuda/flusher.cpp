#include "runtime/cuda/flusher.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <vector>

namespace enceladus::cuda {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds kInterval(25);
// Waking the thread costs the launching one microseconds, so it stays awake between two batches.
constexpr std::chrono::milliseconds kPatience(5);

// The flushers whose threads run. They end before the driver does, whose own exit handlers were
// registered earlier and so run later; in a forked child there are none to end.
struct Running {
  std::mutex mutex;
  std::vector<Flusher*> flushers;
  pid_t process = getpid();
};
Running& running() {
  static auto* instance = new Running;
  return *instance;
}

void stop_all() {
  if (getpid() != running().process) return;
  std::vector<Flusher*> flushers;
  {
    const std::lock_guard lock(running().mutex);
    flushers = running().flushers;
  }
  for (Flusher* flusher : flushers) flusher->stop();
}

void stop_at_exit(Flusher& flusher) {
  static const int registered = std::atexit(stop_all);
  (void)registered;
  const std::lock_guard lock(running().mutex);
  running().flushers.push_back(&flusher);
}

}  // namespace

Flusher::~Flusher() {
  stop();
  const std::lock_guard lock(running().mutex);
  std::erase(running().flushers, this);
}

bool Flusher::watch() {
  int expected = kAsleep;
  if (state_.load() != kAsleep || !state_.compare_exchange_strong(expected, kLooking)) return true;
  if (thread_.joinable()) {
    state_.notify_one();
    return true;
  }
  // Signals are for the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool has_thread = true;
  try {
    thread_ = std::thread([this] { run(); });
    stop_at_exit(*this);
  } catch (const std::system_error&) {
    has_thread = false;
    state_.store(kAsleep);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return has_thread;
}

void Flusher::stop() {
  state_.store(kStopped);
  state_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Flusher::run() {
  while (state_.load() != kStopped) {
    state_.wait(kAsleep);
    look_for_a_while();
    int expected = kLooking;
    // Something may have been held since the last look, by a caller that saw a looking thread.
    if (state_.compare_exchange_strong(expected, kAsleep) && look_()) {
      expected = kAsleep;
      state_.compare_exchange_strong(expected, kLooking);
    }
  }
}

void Flusher::look_for_a_while() {
  auto latest = Clock::now();
  while (state_.load() == kLooking && Clock::now() - latest < kPatience) {
    std::this_thread::sleep_for(kInterval);
    if (look_()) latest = Clock::now();
  }
}

}  // namespace enceladus::cuda
