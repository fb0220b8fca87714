// Runs one launch after another on the calling thread and the worker pool. One caller at a time;
// the stream's consumer lock sees to it.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/common/launch_log.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/launch_plan.h"
#include "runtime/cpu/scratch.h"
#include "runtime/cpu/worker_pool.h"

namespace enceladus::cpu {

// A launch with its arguments in place.
struct PreparedLaunch {
  CpuKernel* kernel = nullptr;
  const uint64_t* parameters = nullptr;
  const uint64_t* extents = nullptr;  // null where the kernel needs none
  std::array<int32_t, 3> grid = {0, 0, 0};
  int64_t bytes = 0;  // touched by the whole launch
  // As in CpuLaunch. By default nobody abandons the launch.
  const uint64_t* abandoned = &kNeverAbandoned;
  uint64_t ticket = 1;

  bool is_abandoned() const { return __atomic_load_n(abandoned, __ATOMIC_RELAXED) >= ticket; }
  static constexpr uint64_t kNeverAbandoned = 0;
};

class Executor {
 public:
  explicit Executor(int threads) : pool_(threads), scratch_(threads) {}

  // Runs every program. Failures go to the log, also those of the runtime itself.
  void run(const PreparedLaunch& launch);

  // Steady-clock nanoseconds at which the last launch began and ended; 0 before the first.
  int64_t last_begin() const { return last_begin_; }
  int64_t last_end() const { return last_end_; }

  LaunchLog& log() { return log_; }
  WorkerPool& pool() { return pool_; }

 private:
  LaunchPlan plan(const PreparedLaunch& launch, double nanoseconds_per_program, int64_t done) const;
  double run_all(const PreparedLaunch& launch);

  WorkerPool pool_;
  Scratch scratch_;
  LaunchLog log_;
  uint64_t generation_ = 0;
  int64_t last_begin_ = 0;
  int64_t last_end_ = 0;
};

// The steady clock, in nanoseconds.
int64_t clock_nanoseconds();

}  // namespace enceladus::cpu
