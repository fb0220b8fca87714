// How a launch is spread over the pool: whether it runs on the calling thread alone, and which
// programs make one task. Rules and figures: measured, see docs/decisions/worker_pool.md.
#pragma once

#include <array>
#include <cstdint>

#include "support/artifact.h"

namespace enceladus::cpu {

struct LaunchPlan {
  int64_t programs = 0;
  int64_t done = 0;  // programs [0, done) have run already
  bool is_parallel = false;
  // Tasks are numbered through columns of `column` consecutive programs, each in `parts` runs.
  int64_t tasks = 0;
  int64_t column = 0;
  int64_t parts = 1;

  struct Range {
    int64_t first;
    int64_t last;
  };
  // May be empty (first >= last) among the programs that are done.
  Range task(int64_t index) const;
};

// What is known when a launch is planned.
struct PlanInput {
  std::array<int32_t, 3> grid;
  double nanoseconds_per_program;  // on one thread
  int threads;
  bool worker_is_awake = false;
  int64_t done = 0;  // programs that have run already, to see how long they take
};

LaunchPlan plan_launch(const Artifact& artifact, const PlanInput& input);

// Programs of a grid. Throws std::invalid_argument past 2^63-1.
int64_t program_count(const std::array<int32_t, 3>& grid);

// Time of one program on one thread, guessed from what the compiler counted.
double estimated_nanoseconds_per_program(const Artifact& artifact);

}  // namespace enceladus::cpu
