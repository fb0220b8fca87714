#include "runtime/cpu/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace enceladus::cpu {
namespace {

void count_task(void* context, int64_t task, int) {
  (*static_cast<std::vector<std::atomic<int>>*>(context))[static_cast<size_t>(task)].fetch_add(1);
}

void expect_each_task_once(WorkerPool& pool, int64_t tasks) {
  std::vector<std::atomic<int>> counts(static_cast<size_t>(tasks));
  pool.run(tasks, &count_task, &counts);
  for (const auto& count : counts) ASSERT_EQ(count.load(), 1);
}

TEST(WorkerPool, runs_each_task_once_for_any_number_of_threads) {
  for (int threads : {1, 2, 3, 7}) {
    WorkerPool pool(threads);
    for (int64_t tasks : {0, 1, 2, 5, 1000}) expect_each_task_once(pool, tasks);
  }
}

TEST(WorkerPool, survives_many_tiny_sections) {
  WorkerPool pool(4);
  for (int section = 0; section < 20000; ++section) expect_each_task_once(pool, section % 7);
}

TEST(WorkerPool, wakes_workers_that_have_parked) {
  WorkerPool pool(3);
  for (int round = 0; round < 5; ++round) {
    expect_each_task_once(pool, 3);
    while (pool.has_awake_worker()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::atomic<int> arrived{0};
    // Every task waits for the others, so this ends only if the workers come.
    pool.run(
        3,
        [](void* context, int64_t, int) {
          auto* count = static_cast<std::atomic<int>*>(context);
          count->fetch_add(1);
          while (count->load() < 3) std::this_thread::yield();
        },
        &arrived);
    EXPECT_EQ(arrived.load(), 3);
  }
}

TEST(WorkerPool, gives_each_thread_a_number_of_its_own) {
  WorkerPool pool(4);
  std::vector<std::atomic<int>> inside(4);
  pool.run(
      1000,
      [](void* context, int64_t, int thread) {
        auto& counts = *static_cast<std::vector<std::atomic<int>>*>(context);
        EXPECT_EQ(counts[static_cast<size_t>(thread)].fetch_add(1), 0);
        counts[static_cast<size_t>(thread)].fetch_sub(1);
      },
      &inside);
}

TEST(WorkerPool, lets_a_task_wait_for_those_with_smaller_numbers) {
  WorkerPool pool(4);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int64_t> finished{0};
    pool.run(
        100,
        [](void* context, int64_t task, int) {
          auto& count = *static_cast<std::atomic<int64_t>*>(context);
          while (count.load() < task) std::this_thread::yield();
          count.fetch_add(1);
        },
        &finished);
    EXPECT_EQ(finished.load(), 100);
  }
}

TEST(WorkerPool, gives_a_thread_the_same_neighbouring_tasks_again) {
  struct Record {
    std::vector<int> threads = std::vector<int>(64);
    std::atomic<int> started{0};
  };
  WorkerPool pool(2);
  for (int round = 0; round < 3; ++round) {
    Record record;
    pool.run(
        64,
        [](void* context, int64_t task, int thread) {
          auto& record = *static_cast<Record*>(context);
          record.threads[static_cast<size_t>(task)] = thread;
          record.started.fetch_add(1);
          // The first task of each half waits for the other: then both threads take part.
          while (task % 32 == 0 && record.started.load() < 2) std::this_thread::yield();
        },
        &record);
    EXPECT_EQ(record.threads[0], 0);
    EXPECT_EQ(record.threads[32], 1);
  }
}

TEST(WorkerPool, starts_new_workers_after_forgetting_them) {
  auto* pool = new WorkerPool(2);  // its first worker lives on and waits, so it is never destroyed
  expect_each_task_once(*pool, 10);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  pool->forget_workers();
  EXPECT_FALSE(pool->has_awake_worker());
}

TEST(ConfiguredThreads, takes_the_environment_and_refuses_what_is_no_number) {
  setenv("ENCELADUS_NUM_THREADS", "3", 1);
  EXPECT_EQ(configured_threads(), 3);
  for (const char* wrong : {"0", "-1", "two", "3x", "99999"}) {
    setenv("ENCELADUS_NUM_THREADS", wrong, 1);
    EXPECT_THROW(configured_threads(), std::invalid_argument) << wrong;
  }
  unsetenv("ENCELADUS_NUM_THREADS");
  EXPECT_GE(configured_threads(), 1);
}

}  // namespace
}  // namespace enceladus::cpu
