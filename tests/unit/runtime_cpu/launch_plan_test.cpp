#include "runtime/cpu/launch_plan.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace enceladus::cpu {
namespace {

// Every program is in exactly one task, in order.
void expect_partition(const LaunchPlan& plan) {
  int64_t next = 0;
  for (int64_t task = 0; task < plan.tasks; ++task) {
    const LaunchPlan::Range range = plan.task(task);
    ASSERT_EQ(range.first, next);
    ASSERT_LT(range.first, range.last);
    next = range.last;
  }
  EXPECT_EQ(next, plan.programs);
}

TEST(LaunchPlan, runs_little_work_inline) {
  const Artifact artifact;
  PlanInput input{.grid = {100, 1, 1}, .nanoseconds_per_program = 10, .threads = 2};
  input.worker_is_awake = true;
  EXPECT_FALSE(plan_launch(artifact, input).is_parallel);  // 1 us
  input.nanoseconds_per_program = 30;
  EXPECT_TRUE(plan_launch(artifact, input).is_parallel);  // 3 us
  input.worker_is_awake = false;
  EXPECT_FALSE(plan_launch(artifact, input).is_parallel);
  input.nanoseconds_per_program = 1000;
  EXPECT_TRUE(plan_launch(artifact, input).is_parallel);
  input.threads = 1;
  EXPECT_FALSE(plan_launch(artifact, input).is_parallel);
}

TEST(LaunchPlan, makes_tasks_of_worthwhile_length) {
  Artifact artifact;
  artifact.bytes_per_program = 12 * 1024;  // an addition of 1024 float32
  const PlanInput input{
      .grid = {65536, 1, 1}, .nanoseconds_per_program = 500, .threads = 2, .worker_is_awake = true};
  const LaunchPlan plan = plan_launch(artifact, input);
  expect_partition(plan);
  EXPECT_EQ(plan.column, 16);
}

TEST(LaunchPlan, leaves_each_thread_several_tasks) {
  const Artifact artifact;
  for (int programs : {2, 3, 7, 64, 1001}) {
    const PlanInput input{.grid = {1, programs, 1},
                          .nanoseconds_per_program = 1e5,
                          .threads = 2,
                          .worker_is_awake = true};
    const LaunchPlan plan = plan_launch(artifact, input);
    expect_partition(plan);
    EXPECT_EQ(plan.tasks, programs);  // each is longer than 10 us
  }
}

TEST(LaunchPlan, keeps_columns_together_and_halves_them_when_few) {
  Artifact artifact;
  artifact.walk_shares_columns = true;
  artifact.walk = {1, 0, 2};
  PlanInput input{
      .grid = {32, 13, 1}, .nanoseconds_per_program = 1e5, .threads = 2, .worker_is_awake = true};
  LaunchPlan plan = plan_launch(artifact, input);
  expect_partition(plan);
  EXPECT_EQ(plan.tasks, 32);
  EXPECT_EQ(plan.task(3).first, 39);
  input.grid = {3, 13, 1};
  plan = plan_launch(artifact, input);
  expect_partition(plan);
  EXPECT_EQ(plan.tasks, 12);
  input.grid = {1, 2, 1};
  plan = plan_launch(artifact, input);
  expect_partition(plan);
  EXPECT_EQ(plan.tasks, 2);
}

TEST(LaunchPlan, leaves_out_programs_that_are_done) {
  Artifact artifact;
  artifact.walk_shares_columns = true;
  const PlanInput input{.grid = {10, 20, 1},
                        .nanoseconds_per_program = 1e5,
                        .threads = 2,
                        .worker_is_awake = true,
                        .done = 13};
  const LaunchPlan plan = plan_launch(artifact, input);
  EXPECT_GE(plan.task(0).first, plan.task(0).last);
  EXPECT_EQ(plan.task(1).first, 13);
  EXPECT_EQ(plan.task(1).last, 20);
}

TEST(LaunchPlan, counts_programs_past_32_bits_and_refuses_more_than_63) {
  EXPECT_EQ(program_count({1 << 30, 1 << 30, 1}), int64_t{1} << 60);
  EXPECT_EQ(program_count({1 << 30, 0, 1 << 30}), 0);
  EXPECT_THROW(program_count({1 << 30, 1 << 30, 1 << 30}), std::invalid_argument);
}

}  // namespace
}  // namespace enceladus::cpu
