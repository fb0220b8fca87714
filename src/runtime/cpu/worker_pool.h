// The worker pool: runs numbered tasks on the calling thread and on workers that claim them.
//
// Protocol. `epoch_` is odd while a section is open. The caller writes the section's fields, opens
// it (epoch + 1), claims tasks like every worker, closes it (epoch + 1) once all are claimed, and
// then waits only until `active_` is zero: for tasks that were claimed, never for a worker to
// arrive. A worker that sees an odd epoch announces itself in `active_` and looks at the epoch
// again. All four accesses are sequentially consistent, so either the worker sees that the section
// has closed and leaves without touching it, or the caller sees the worker in `active_`; the fields
// are therefore written only while nobody reads them, and the caller's reads after the wait see all
// that the tasks wrote (release by the worker's decrement).
// A worker without work spins for `kSpinTime`, then announces itself in `parked_` and sleeps on
// `epoch_`; the caller opens first and looks at `parked_` after, so no wake-up is lost.
// Claims. The tasks are cut into parts of neighbours, as many as threads where there are enough.
// Each thread claims the tasks of its own part in order, then those of the parts behind it, round
// about: it walks through long stretches of memory, and through the same ones in the next launch
// (measured: additions of 2^20 to 2^26 float32 take 0.8 to 0.93 of the time that they take with
// one counter for all).
// The caller goes through all parts in order, so it never runs a task while one with a smaller
// number is unclaimed: a task may wait for tasks with smaller numbers.
// One caller at a time: the stream's consumer lock sees to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace enceladus::cpu {

class WorkerPool {
 public:
  // `threads` counts the caller. Workers start with the first section that can use them.
  explicit WorkerPool(int threads);
  ~WorkerPool();

  int threads() const { return threads_; }

  // Calls body(context, task, thread) for each task in [0, tasks), `thread` in [0, threads()), 0
  // being the caller. Returns how many threads ran tasks.
  using Body = void (*)(void* context, int64_t task, int thread);
  int run(int64_t tasks, Body body, void* context);

  // Whether at least one worker would see a new section at once.
  bool has_awake_worker() const;

  // In the child of a fork, which has none of the workers: forgets them, so that the next section
  // starts new ones. No section may have been open.
  void forget_workers();

 private:
  void start_workers();
  void work(int thread);
  uint32_t await_section(uint32_t seen);
  void cut(int64_t tasks);
  int64_t drain(int thread);
  void wake(int64_t tasks);

  const int threads_;
  std::vector<std::thread> workers_;
  alignas(64) std::atomic<uint32_t> epoch_{0};
  alignas(64) std::atomic<int> active_{0};
  std::atomic<int> helped_{0};  // workers that ran a task of the open section
  alignas(64) std::atomic<int> parked_{0};
  std::atomic<bool> stopping_{false};
  struct alignas(64) Part {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  // The open section.
  const std::unique_ptr<Part[]> parts_;
  alignas(64) int part_count_ = 1;
  Body body_ = nullptr;
  void* context_ = nullptr;
};

// Keeps the handle of a thread that a fork left behind in the parent: it can be neither joined nor
// destroyed here.
void abandon(std::thread thread);

// ENCELADUS_NUM_THREADS, else the processors this process may use. Throws std::invalid_argument
// for a value that is no number from 1 to 1024.
int configured_threads();

}  // namespace enceladus::cpu
