#include "runtime/cpu/stream.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <thread>

#include "runtime/common/failure.h"
#include "runtime/cpu/buffer.h"
#include "test_kernels.h"

namespace enceladus::cpu {
namespace {

using std::chrono::milliseconds;

class StreamTest : public testing::Test {
 protected:
  Ticket enqueue(Kernel& kernel, std::vector<uint64_t> parameters,
                 std::array<int32_t, 3> grid = {1, 1, 1}) {
    return stream_.enqueue({.kernel = &kernel, .parameters = parameters, .grid = grid});
  }
  CpuStream stream_{3};
};

TEST_F(StreamTest, runs_launches_in_order) {
  auto kernel = make_kernel(&append_number, 2);
  std::vector<uint64_t> seen;
  std::vector<uint64_t> expected(5000);
  std::iota(expected.begin(), expected.end(), 0);
  for (uint64_t number : expected) enqueue(*kernel, {address(&seen), number});
  stream_.synchronize();
  EXPECT_EQ(seen, expected);
}

TEST_F(StreamTest, returns_before_the_launch_has_run_and_reports_a_full_ring) {
  auto blocker = make_kernel(&wait_for_flag, 1);
  std::atomic<bool> flag{false};
  const std::vector<uint64_t> parameters = {address(&flag)};
  const Ticket first = enqueue(*blocker, parameters);
  EXPECT_FALSE(stream_.is_complete(first));
  const Launch launch{.kernel = blocker.get(), .parameters = parameters};
  uint64_t accepted = 1;
  while (stream_.try_enqueue(launch)) ++accepted;
  EXPECT_EQ(accepted, CpuStream::kSlots);
  std::thread opener([&] {
    std::this_thread::sleep_for(milliseconds(20));
    flag.store(true);
  });
  stream_.enqueue(launch);  // waits for room
  opener.join();
  stream_.synchronize();
  EXPECT_TRUE(stream_.is_complete(CpuStream::kSlots + 1));
}

TEST_F(StreamTest, abandoned_launches_end_or_do_not_begin_and_later_ones_run) {
  auto endless = make_kernel(&wait_for_abandonment, 0);
  auto counter = make_kernel(&count_programs, 1);
  int32_t before = 0, after = 0;
  enqueue(*endless, {});
  const Ticket abandoned = enqueue(*counter, {address(&before)});
  EXPECT_FALSE(stream_.wait(abandoned, milliseconds(20)));
  stream_.abandon(abandoned);
  enqueue(*counter, {address(&after)});
  stream_.synchronize();
  EXPECT_EQ(before, 0);
  EXPECT_EQ(after, 1);
}

TEST_F(StreamTest, a_launch_may_take_long_until_it_has_been_measured_as_short) {
  auto kernel = make_kernel(&do_nothing, 0);
  const Launch launch{.kernel = kernel.get()};
  EXPECT_TRUE(stream_.may_take_long(launch));
  // A busy machine can make one run long, and a dispatcher that still holds the queue says yes.
  int runs = 0;
  do {
    enqueue(*kernel, {});
    stream_.synchronize();
  } while (stream_.may_take_long(launch) && ++runs < 1000);
  EXPECT_LT(runs, 1000);
  Artifact artifact;
  artifact.may_not_end = true;
  auto loop = make_kernel(&do_nothing, 0, artifact);
  enqueue(*loop, {});
  stream_.synchronize();
  EXPECT_TRUE(stream_.may_take_long({.kernel = loop.get()}));
}

TEST_F(StreamTest, runs_every_program_once_inline_and_spread_over_threads) {
  auto kernel = make_kernel(&count_programs, 1);
  Artifact heavy;
  heavy.operations_per_program = 1e5;
  auto parallel = make_kernel(&count_programs, 1, heavy);
  for (int programs : {1, 17, 4096, 100000}) {
    std::vector<int32_t> counts(static_cast<size_t>(programs));
    enqueue(*kernel, {address(counts.data())}, {programs, 1, 1});
    enqueue(*parallel, {address(counts.data())}, {programs, 1, 1});
    stream_.synchronize();
    for (int32_t count : counts) ASSERT_EQ(count, 2);
  }
}

// The compiler said nothing of the cost, so the first program must show that help is worth it.
TEST_F(StreamTest, a_launch_that_proves_long_is_shared_after_all) {
  auto kernel = make_kernel(
      [](const CpuLaunch* launch, int64_t first, int64_t last, void*) {
        auto* runs = reinterpret_cast<std::thread::id*>(launch->parameters[0]);
        for (int64_t program = first; program < last; ++program) {
          std::this_thread::sleep_for(milliseconds(2));
          runs[program] = std::this_thread::get_id();
        }
      },
      1);
  std::vector<std::thread::id> runs(20);
  enqueue(*kernel, {address(runs.data())}, {20, 1, 1});
  stream_.synchronize();
  EXPECT_GE(std::set<std::thread::id>(runs.begin(), runs.end()).size(), 2u);
  EXPECT_EQ(std::count(runs.begin(), runs.end(), std::thread::id()), 0);
}

// parameters: a number, and whether to wait for abandonment. Counts programs in scratch.
void count_in_scratch(const CpuLaunch* launch, int64_t first, int64_t last, void* scratch) {
  auto* header = static_cast<CpuScratchHeader*>(scratch);
  int64_t& count = *reinterpret_cast<int64_t*>(static_cast<char*>(scratch) + kScratchHeaderBytes);
  if (first == last) {
    reinterpret_cast<std::atomic<int64_t>*>(launch->parameters[0])->fetch_add(count);
    return;
  }
  if (header->counted_in != header->generation) count = 0;
  header->counted_in = header->generation;
  count += last - first;
  if (launch->parameters[1] != 0) wait_for_abandonment(launch, first, last, scratch);
}

TEST_F(StreamTest, what_threads_have_counted_in_scratch_is_added_when_a_launch_ends) {
  Artifact artifact;
  artifact.scratch_bytes = 64;
  auto small = make_kernel(&count_in_scratch, 2, artifact);
  artifact.operations_per_program = 1e5;
  auto parallel = make_kernel(&count_in_scratch, 2, artifact);
  std::atomic<int64_t> sum = 0;
  for (int round = 0; round < 50; ++round) {
    enqueue(*small, {address(&sum), 0}, {10, 1, 1});
    enqueue(*parallel, {address(&sum), 0}, {1000, 1, 1});
  }
  stream_.synchronize();
  EXPECT_EQ(sum, 50 * 1010);
}

TEST_F(StreamTest, what_an_abandoned_launch_has_counted_is_added) {
  Artifact artifact;
  artifact.scratch_bytes = 64;
  auto kernel = make_kernel(&count_in_scratch, 2, artifact);
  std::atomic<int64_t> sum = 0;
  const Ticket ticket = enqueue(*kernel, {address(&sum), 1});
  EXPECT_FALSE(stream_.wait(ticket, milliseconds(20)));
  stream_.abandon(ticket);
  stream_.synchronize();
  EXPECT_EQ(sum, 1);
}

TEST_F(StreamTest, an_empty_grid_launches_nothing_and_is_no_error) {
  auto kernel = make_kernel(&count_programs, 1);
  EXPECT_GT(enqueue(*kernel, {0}, {5, 0, 5}), 0u);
  stream_.run_now(
      {.kernel = kernel.get(), .parameters = std::vector<uint64_t>{0}, .grid = {0, 1, 1}});
  stream_.synchronize();
}

TEST_F(StreamTest, run_now_comes_after_what_was_queued) {
  auto kernel = make_kernel(&append_number, 2);
  std::vector<uint64_t> seen;
  for (uint64_t number = 0; number < 100; ++number) enqueue(*kernel, {address(&seen), number});
  const std::vector<uint64_t> last = {address(&seen), 100};
  stream_.run_now({.kernel = kernel.get(), .parameters = last});
  ASSERT_EQ(seen.size(), 101u);
  EXPECT_EQ(seen.back(), 100u);
}

TEST_F(StreamTest, many_threads_launch_and_wait_at_once) {
  auto kernel = make_kernel(
      [](const CpuLaunch* launch, int64_t, int64_t, void*) {
        // Launches never overlap, so a plain increment is enough.
        ++*reinterpret_cast<int64_t*>(launch->parameters[0]);
      },
      1);
  int64_t count = 0;
  const std::vector<uint64_t> parameters = {address(&count)};
  const Launch launch{.kernel = kernel.get(), .parameters = parameters};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 2000; ++i) {
        const Ticket ticket = stream_.enqueue(launch);
        if (i % 50 == thread) stream_.run_now(launch);
        if (i % 7 == 0) {
          while (!stream_.wait(ticket, milliseconds(1))) {
          }
          EXPECT_TRUE(stream_.is_complete(ticket));
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  stream_.synchronize();
  EXPECT_EQ(count, 4 * 2000 + 4 * 40);
}

TEST_F(StreamTest, the_first_failure_surfaces_at_the_next_synchronization_only) {
  Artifact named;
  named.kernel = "softmax";
  auto failing = make_kernel(&fail, 1, named);
  auto counting = make_kernel(&count_programs, 1);
  std::vector<int32_t> counts(1);
  enqueue(*failing, {0}, {8, 1, 1});
  enqueue(*failing, {1}, {8, 1, 1});
  enqueue(*counting, {address(counts.data())});
  try {
    stream_.synchronize();
    FAIL() << "no failure";
  } catch (const LaunchFailure& failure) {
    EXPECT_EQ(failure.kind(), FailureKind::kAssertion);
    EXPECT_STREQ(failure.what(),
                 "kernel `softmax`, program (0, 0, 0): kernel.py:3: it does not hold");
  }
  EXPECT_EQ(counts[0], 1);  // what is queued behind a failure still runs
  EXPECT_NO_THROW(stream_.synchronize());
  const std::vector<uint64_t> out_of_bounds = {1};
  EXPECT_THROW(stream_.run_now({.kernel = failing.get(), .parameters = out_of_bounds}),
               LaunchFailure);
}

TEST_F(StreamTest, printed_lines_are_kept_for_the_host) {
  auto kernel = make_kernel(&print_grid, 0);
  enqueue(*kernel, {}, {3, 1, 1});
  enqueue(*kernel, {}, {4, 1, 1});
  stream_.synchronize();
  EXPECT_EQ(stream_.take_printed(), "grid 3\ngrid 4\n");
  EXPECT_EQ(stream_.take_printed(), "");
}

class WatchedBuffer : public Buffer {
 public:
  explicit WatchedBuffer(std::atomic<int>* deleted) : Buffer(nullptr, 0), deleted_(deleted) {}
  ~WatchedBuffer() override { deleted_->fetch_add(1); }

 private:
  std::atomic<int>* deleted_;
};

TEST_F(StreamTest, resources_outlive_the_launches_that_use_them) {
  auto blocker = make_kernel(&wait_for_flag, 1);
  std::atomic<bool> flag{false};
  std::atomic<int> deleted{0};
  const std::vector<uint64_t> parameters = {address(&flag)};
  {
    auto buffer = Ref<Buffer>::adopt(new WatchedBuffer(&deleted));
    Resource* resources[] = {buffer.get()};
    stream_.enqueue({.kernel = blocker.get(), .parameters = parameters, .resources = resources});
    blocker = {};
  }
  EXPECT_EQ(deleted.load(), 0);
  flag.store(true);
  stream_.synchronize();
  // The thread that ran the launch lets go of them a moment after it has said so.
  for (int i = 0; i < 1000 && deleted.load() == 0; ++i)
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(deleted.load(), 1);
  auto unused = Ref<Buffer>::adopt(new WatchedBuffer(&deleted));
  unused = {};
  EXPECT_EQ(deleted.load(), 2);
}

TEST_F(StreamTest, events_time_the_launches_between_them) {
  auto sleeper = make_kernel([](const CpuLaunch*, int64_t, int64_t,
                                void*) { std::this_thread::sleep_for(milliseconds(5)); },
                             0);
  auto before = Ref<Event>::adopt(new Event);
  auto after = Ref<Event>::adopt(new Event);
  enqueue(*sleeper, {});
  stream_.record(*before);
  stream_.synchronize();
  std::this_thread::sleep_for(milliseconds(10));  // the host's time does not count
  enqueue(*sleeper, {});
  enqueue(*sleeper, {});
  const Ticket last = stream_.record(*after);
  stream_.synchronize();
  EXPECT_TRUE(stream_.is_complete(last));
  const double elapsed = static_cast<double>(before->nanoseconds_until(*after)) * 1e-6;
  EXPECT_GE(elapsed, 10.0);
  EXPECT_LT(elapsed, 19.0);
  EXPECT_EQ(after->nanoseconds_until(*after), 0);
}

TEST_F(StreamTest, scratch_is_aligned_and_its_generation_tells_launches_apart) {
  Artifact artifact;
  artifact.scratch_bytes = 5 << 20;
  auto kernel = make_kernel(
      [](const CpuLaunch* launch, int64_t, int64_t, void* scratch) {
        EXPECT_EQ(address(scratch) % 64, 0u);
        *reinterpret_cast<uint64_t*>(launch->parameters[0]) = *static_cast<uint64_t*>(scratch);
        std::fill_n(static_cast<char*>(scratch) + 64, 5 << 20, 'x');
      },
      1, artifact);
  uint64_t first = 0, second = 0;
  enqueue(*kernel, {address(&first)});
  enqueue(*kernel, {address(&second)});
  stream_.synchronize();
  EXPECT_NE(first, second);
}

TEST_F(StreamTest, each_call_is_told_where_its_first_program_stands) {
  Artifact artifact;
  artifact.walk = {2, 0, 1};
  artifact.bytes_per_program = 1 << 20;  // in several calls
  auto kernel = make_kernel(
      [](const CpuLaunch* launch, int64_t first, int64_t last, void* scratch) {
        const int32_t* start = static_cast<CpuScratchHeader*>(scratch)->start;
        EXPECT_EQ(start[2] + 7 * (start[0] + 3 * int64_t{start[1]}), first);
        EXPECT_LT(start[2], 7);
        EXPECT_LT(start[0], 3);
        reinterpret_cast<std::atomic<int64_t>*>(launch->parameters[0])->fetch_add(last - first);
      },
      1, artifact);
  std::atomic<int64_t> programs{0};
  enqueue(*kernel, {address(&programs)}, {3, 5, 7});
  stream_.synchronize();
  EXPECT_EQ(programs.load(), 105);
}

TEST_F(StreamTest, large_launches_stream_their_stores) {
  Artifact artifact;
  artifact.bytes_per_program = 1 << 20;
  auto kernel = make_kernel(
      [](const CpuLaunch* launch, int64_t, int64_t, void*) {
        reinterpret_cast<std::atomic<uint32_t>*>(launch->parameters[0])->store(launch->flags);
      },
      1, artifact);
  std::atomic<uint32_t> small{9}, large{9};
  enqueue(*kernel, {address(&small)}, {32, 1, 1});
  enqueue(*kernel, {address(&large)}, {33, 1, 1});
  stream_.synchronize();
  EXPECT_EQ(small.load(), 0u);
  EXPECT_EQ(large.load(), kCpuFlagStreaming);
}

TEST_F(StreamTest, a_kernel_may_have_more_parameters_than_a_slot_holds) {
  auto kernel = make_kernel(
      [](const CpuLaunch* launch, int64_t, int64_t, void*) {
        for (uint64_t i = 1; i < 100; ++i)
          *reinterpret_cast<uint64_t*>(launch->parameters[0]) += launch->parameters[i];
      },
      100);
  uint64_t sum = 0;
  std::vector<uint64_t> parameters(100, 1);
  parameters[0] = address(&sum);
  enqueue(*kernel, parameters);
  stream_.synchronize();
  EXPECT_EQ(sum, 99u);
}

// Its threads do not exist in the child, which must neither hang nor lose a launch.
TEST_F(StreamTest, a_forked_child_has_a_working_stream) {
  Artifact heavy;
  heavy.operations_per_program = 1e5;
  auto kernel = make_kernel(&count_programs, 1, heavy);
  std::vector<int32_t> counts(10000);
  enqueue(*kernel, {address(counts.data())}, {10000, 1, 1});
  stream_.before_fork();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    stream_.after_fork_in_child();
    for (int i = 0; i < 50; ++i) enqueue(*kernel, {address(counts.data())}, {10000, 1, 1});
    stream_.synchronize();
    for (int32_t count : counts)
      if (count != 51) _exit(1);
    _exit(0);
  }
  stream_.after_fork_in_parent();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  enqueue(*kernel, {address(counts.data())}, {10000, 1, 1});
  stream_.synchronize();
  EXPECT_EQ(counts[9999], 2);
}

}  // namespace
}  // namespace enceladus::cpu
