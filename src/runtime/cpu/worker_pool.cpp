#include "runtime/cpu/worker_pool.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

#include "runtime/cpu/spin.h"

namespace enceladus::cpu {
namespace {

// Waking a parked thread costs the caller microseconds and the worker tens of them, so a worker
// stays awake about as long as that costs.
constexpr std::chrono::microseconds kSpinTime(75);

// Fewer tasks than that are no long stretch, and leave nothing to balance.
constexpr int64_t kTasksPerPart = 8;

bool is_open(uint32_t epoch) { return epoch & 1; }

}  // namespace

WorkerPool::WorkerPool(int threads)
    : threads_(threads), parts_(std::make_unique<Part[]>(static_cast<size_t>(threads))) {}

WorkerPool::~WorkerPool() {
  stopping_.store(true);
  epoch_.fetch_add(2);
  epoch_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void WorkerPool::start_workers() {
  workers_.reserve(static_cast<size_t>(threads_ - 1));
  try {
    for (int thread = 1; thread < threads_; ++thread)
      workers_.emplace_back([this, thread] { work(thread); });
  } catch (const std::system_error&) {
    // The system allows no more threads: those that started, and the caller, do the work.
  }
}

int WorkerPool::run(int64_t tasks, Body body, void* context) {
  if (threads_ == 1 || tasks <= 1) {
    for (int64_t task = 0; task < tasks; ++task) body(context, task, 0);
    return 1;
  }
  if (workers_.empty()) start_workers();
  cut(tasks);
  body_ = body;
  context_ = context;
  helped_.store(0, std::memory_order_relaxed);
  epoch_.fetch_add(1);
  wake(tasks);
  drain(0);
  epoch_.fetch_add(1);
  // A worker that still runs is about to end, unless this very thread keeps its processor busy.
  while (!spin_until([this] { return active_.load() == 0; }, kSpinTime)) std::this_thread::yield();
  return 1 + helped_.load(std::memory_order_relaxed);
}

void WorkerPool::cut(int64_t tasks) {
  part_count_ = static_cast<int>(std::clamp<int64_t>(tasks / kTasksPerPart, 1, threads_));
  int64_t begin = 0;
  for (int index = 0; index < part_count_; ++index) {
    Part& part = parts_[static_cast<size_t>(index)];
    part.next.store(begin, std::memory_order_relaxed);
    begin = part.end = begin + (tasks - begin) / (part_count_ - index);
  }
}

void WorkerPool::wake(int64_t tasks) {
  const int parked = parked_.load();
  if (parked == 0) return;
  const auto workers = static_cast<int64_t>(workers_.size());
  const int64_t awake = workers - parked;
  const int64_t wanted = std::min(tasks - 1, workers) - awake;
  if (wanted >= parked)
    epoch_.notify_all();
  else
    for (int64_t i = 0; i < wanted; ++i) epoch_.notify_one();
}

bool WorkerPool::has_awake_worker() const {
  return parked_.load(std::memory_order_relaxed) < static_cast<int>(workers_.size());
}

// Returns how many tasks this thread ran.
int64_t WorkerPool::drain(int thread) {
  int64_t count = 0;
  for (int step = 0; step < part_count_; ++step) {
    Part& part = parts_[static_cast<size_t>((thread + step) % part_count_)];
    for (;;) {
      const int64_t task = part.next.fetch_add(1, std::memory_order_relaxed);
      if (task >= part.end) break;
      body_(context_, task, thread);
      ++count;
    }
  }
  return count;
}

// Returns the epoch of an open section other than `seen`, or any epoch when stopping.
uint32_t WorkerPool::await_section(uint32_t seen) {
  uint32_t epoch = seen;
  const auto ready = [&] {
    epoch = epoch_.load(std::memory_order_acquire);
    return (epoch != seen && is_open(epoch)) || stopping_.load(std::memory_order_relaxed);
  };
  while (!spin_until(ready, kSpinTime)) {
    parked_.fetch_add(1);
    // Closed sections change the epoch too: whoever wakes for one goes on spinning.
    if (!ready()) epoch_.wait(epoch);
    parked_.fetch_sub(1);
  }
  return epoch;
}

void WorkerPool::work(int thread) {
  uint32_t seen = 0;
  for (;;) {
    const uint32_t epoch = await_section(seen);
    if (stopping_.load()) return;
    active_.fetch_add(1);
    if (epoch_.load() == epoch && drain(thread) > 0)
      helped_.fetch_add(1, std::memory_order_relaxed);
    active_.fetch_sub(1);
    seen = epoch;
  }
}

void WorkerPool::forget_workers() {
  for (std::thread& worker : workers_) abandon(std::move(worker));
  workers_.clear();
  active_.store(0);
  parked_.store(0);
}

void abandon(std::thread thread) {
  static auto* abandoned = new std::vector<std::thread>;
  abandoned->push_back(std::move(thread));
}

int configured_threads() {
  const char* text = std::getenv("ENCELADUS_NUM_THREADS");
  if (!text || !*text) return std::max(1u, std::thread::hardware_concurrency());
  int threads = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, threads);
  if (error != std::errc() || rest != end || threads < 1 || threads > 1024)
    throw std::invalid_argument("ENCELADUS_NUM_THREADS=" + std::string(text) +
                                " is no number of threads from 1 to 1024");
  return threads;
}

}  // namespace enceladus::cpu
