#include "runtime/cpu/executor.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <string_view>

#include "runtime/common/failure.h"

namespace enceladus::cpu {
namespace {

// Streaming stores skip the caches: they pay off once a launch touches more than the last of them
// holds (measured: 1.25 to 1.6 times faster beyond, up to 2.5 times slower below).
constexpr int64_t kStreamingBytes = int64_t{32} << 20;

struct HostContext {
  LaunchLog* log;
  const Kernel* kernel;
};

void print_line(void* context, const char* text, int64_t length) {
  static_cast<HostContext*>(context)->log->add_line({text, static_cast<size_t>(length)});
}

void report_failure(void* context, int32_t kind, const char* message, const int32_t program[3]) {
  const auto* host = static_cast<HostContext*>(context);
  if (host->log->has_failure()) return;
  const FailureKind failure = kind == 1 ? FailureKind::kOutOfBounds : FailureKind::kAssertion;
  host->log->add_failure(std::make_exception_ptr(LaunchFailure(
      failure, host->kernel->artifact().kernel, message, {program[0], program[1], program[2]})));
}

constexpr CpuHost kHost = {&print_line, &report_failure};

// What every task of a section shares.
struct Section {
  CpuEntry entry;
  std::array<int32_t, 3> walk;
  CpuLaunch launch;
  LaunchPlan plan;
  const Scratch* scratch;
  uint64_t generation;
  int threads;
  std::atomic<bool> has_counts = false;  // some thread's scratch holds counts
};

void place_in_grid(const Section& section, int64_t program, int32_t place[3]) {
  for (const int32_t axis : section.walk) {
    const int64_t extent = section.launch.grid[axis];
    place[axis] = static_cast<int32_t>(program % extent);
    program /= extent;
  }
}

// Other threads must see what was stored around the caches. On x86 a full fence would also make
// the next task's loads wait until the stores have left.
void fence_streaming_stores() {
#ifdef __x86_64__
  _mm_sfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

void run_programs(Section& section, LaunchPlan::Range range, int thread) {
  if (range.first >= range.last) return;
  CpuScratchHeader* scratch = section.scratch->of_thread(thread);
  scratch->generation = section.generation;
  place_in_grid(section, range.first, scratch->start);
  section.entry(&section.launch, range.first, range.last, scratch);
  if (scratch->counted_in == section.generation)
    section.has_counts.store(true, std::memory_order_relaxed);
  if ((section.launch.flags & kCpuFlagStreaming) != 0) fence_streaming_stores();
}

void run_task(void* context, int64_t task, int thread) {
  auto& section = *static_cast<Section*>(context);
  run_programs(section, section.plan.task(task), thread);
}

// Adds what one thread has counted for itself to memory; any thread may do that.
void add_counts(void* context, int64_t counted_by, int /*thread*/) {
  const auto& section = *static_cast<const Section*>(context);
  CpuScratchHeader* scratch = section.scratch->of_thread(static_cast<int>(counted_by));
  if (scratch->counted_in != section.generation) return;
  scratch->start[0] = static_cast<int32_t>(counted_by);
  scratch->start[1] = section.threads;
  section.entry(&section.launch, 0, 0, scratch);
}

}  // namespace

int64_t clock_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

LaunchPlan Executor::plan(const PreparedLaunch& launch, double nanoseconds_per_program,
                          int64_t done) const {
  return plan_launch(launch.kernel->artifact(), {.grid = launch.grid,
                                                 .nanoseconds_per_program = nanoseconds_per_program,
                                                 .threads = pool_.threads(),
                                                 .worker_is_awake = pool_.has_awake_worker(),
                                                 .done = done});
}

// Returns the time of one program on one thread.
double Executor::run_all(const PreparedLaunch& launch) {
  CpuKernel& kernel = *launch.kernel;
  scratch_.reserve(kernel.artifact().scratch_bytes);
  HostContext host{&log_, &kernel};
  Section section{
      .entry = kernel.entry(),
      .walk = kernel.artifact().walk,
      .launch = {.parameters = launch.parameters,
                 .extents = launch.extents,
                 .grid = {launch.grid[0], launch.grid[1], launch.grid[2]},
                 .flags = launch.bytes > kStreamingBytes ? uint32_t{kCpuFlagStreaming} : 0,
                 .host = &kHost,
                 .host_context = &host,
                 .abandoned = launch.abandoned,
                 .ticket = launch.ticket},
      .plan = plan(launch, kernel.nanoseconds_per_program(), 0),
      .scratch = &scratch_,
      .generation = ++generation_,
      .threads = pool_.threads(),
  };
  const int64_t programs = section.plan.programs;
  double inline_time = 0;
  if (!section.plan.is_parallel && programs > 1 && pool_.threads() > 1) {
    // What seemed too little to share may not be: trip counts are known to no compiler, and
    // change from launch to launch. A part of the programs tells.
    const int64_t probe = kernel.has_run() ? std::max<int64_t>(1, programs / 8) : 1;
    run_programs(section, {0, probe}, 0);
    inline_time = static_cast<double>(clock_nanoseconds() - last_begin_);
    section.plan = plan(launch, inline_time / static_cast<double>(probe), probe);
  }
  int used = 1;
  if (section.plan.is_parallel)
    used = pool_.run(section.plan.tasks, &run_task, &section);
  else
    run_programs(section, {section.plan.done, programs}, 0);
  if (section.has_counts.load(std::memory_order_relaxed))
    pool_.run(used > 1 ? pool_.threads() : 1, &add_counts, &section);
  last_end_ = clock_nanoseconds();
  const double shared_time = static_cast<double>(last_end_ - last_begin_) - inline_time;
  return (inline_time + used * shared_time) / static_cast<double>(programs);
}

void Executor::run(const PreparedLaunch& launch) {
  last_begin_ = clock_nanoseconds();
  last_end_ = last_begin_;
  try {
    const double nanoseconds_per_program = run_all(launch);
    // A launch that ended early says nothing about the next.
    if (!launch.is_abandoned()) launch.kernel->learn(nanoseconds_per_program);
  } catch (const std::exception& error) {
    log_.add_failure(std::make_exception_ptr(
        LaunchFailure(FailureKind::kDevice, launch.kernel->artifact().kernel, error.what(), {})));
  }
}

}  // namespace enceladus::cpu
