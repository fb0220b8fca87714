#include "runtime/cpu/launch_plan.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace enceladus::cpu {
namespace {

// Below this much work a launch is done before help has arrived: two threads beat one from about a
// microsecond on where a worker spins, and from 32 to 64 where it must be woken.
constexpr double kInlineAwake = 2e3;
constexpr double kInlineParked = 50e3;
// A task pays for its claim and keeps the prefetchers running: 16384 float32 elements of an
// elementwise kernel with three arrays, or 10 microseconds.
constexpr double kTaskBytes = 3 * 65536;
constexpr double kTaskNanoseconds = 10e3;
constexpr int64_t kTasksPerThread = 8;
constexpr int64_t kColumnsPerThread = 4;
// One core: bytes from the last cache and vector operations, a nanosecond.
constexpr double kBytesPerNanosecond = 25;
constexpr double kOperationsPerNanosecond = 40;

int64_t rounded_up(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }

// Runs of programs long enough to be worth a claim, but several for each thread.
void split_evenly(const Artifact& artifact, const PlanInput& input, LaunchPlan* plan) {
  double wanted = kTaskNanoseconds / std::max(input.nanoseconds_per_program, 1.0);
  if (artifact.bytes_per_program > 0)
    wanted = std::min(wanted, kTaskBytes / artifact.bytes_per_program);
  const int64_t most = plan->programs / (kTasksPerThread * input.threads);
  plan->column = std::max<int64_t>(1, std::min<int64_t>(most, std::llround(wanted)));
  plan->tasks = rounded_up(plan->programs, plan->column);
}

// Programs that share a packed column stay together, unless that leaves threads without work.
void split_columns(const Artifact& artifact, const PlanInput& input, LaunchPlan* plan) {
  plan->column = input.grid[static_cast<size_t>(artifact.walk[0])];
  const int64_t columns = plan->programs / plan->column;
  const int64_t wanted = kColumnsPerThread * input.threads;
  while (columns * plan->parts < wanted && plan->parts * 2 <= plan->column) plan->parts *= 2;
  plan->tasks = columns * plan->parts;
}

}  // namespace

LaunchPlan::Range LaunchPlan::task(int64_t index) const {
  const int64_t begin = index / parts * column;
  const int64_t part = index % parts;
  return {std::max(done, begin + column * part / parts),
          std::min(programs, begin + column * (part + 1) / parts)};
}

LaunchPlan plan_launch(const Artifact& artifact, const PlanInput& input) {
  LaunchPlan plan;
  plan.programs = program_count(input.grid);
  plan.done = input.done;
  const int64_t left = plan.programs - plan.done;
  const double work = static_cast<double>(left) * input.nanoseconds_per_program;
  const double inline_limit = input.worker_is_awake ? kInlineAwake : kInlineParked;
  if (input.threads == 1 || left <= 1 || work < inline_limit) return plan;
  plan.is_parallel = true;
  if (artifact.walk_shares_columns)
    split_columns(artifact, input, &plan);
  else
    split_evenly(artifact, input, &plan);
  return plan;
}

int64_t program_count(const std::array<int32_t, 3>& grid) {
  int64_t count = int64_t{grid[0]} * grid[1];
  if (__builtin_mul_overflow(count, int64_t{grid[2]}, &count))
    throw std::invalid_argument("the grid has more than 2^63-1 programs");
  return count;
}

double estimated_nanoseconds_per_program(const Artifact& artifact) {
  return std::max(artifact.bytes_per_program / kBytesPerNanosecond,
                  artifact.operations_per_program / kOperationsPerNanosecond);
}

}  // namespace enceladus::cpu
