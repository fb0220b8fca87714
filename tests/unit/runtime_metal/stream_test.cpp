#include "runtime/metal/stream.h"

#include <atomic>
#include <thread>

#include "runtime/common/failure.h"
#include "simulated_device.h"

namespace enceladus::metal {
namespace {

class StreamTest : public SimulatedDevice {
 protected:
  int64_t settled_ = 0;
};

TEST_F(StreamTest, launches_run_in_order) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  const Ref<Buffer> buffer = integers(4);
  for (int32_t i = 0; i < 200; ++i)
    ASSERT_NE(stream_.try_enqueue(AddLaunch(kernel.get(), buffer, i, 4).launch), 0u);
  stream_.synchronize();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(values(buffer)[i], 199 * 200 / 2);
}

TEST_F(StreamTest, a_lone_launch_runs_without_anybody_waiting) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  const Ref<Buffer> buffer = integers(1);
  stream_.enqueue(AddLaunch(kernel.get(), buffer, 3).launch);
  stream_.enqueue(AddLaunch(kernel.get(), buffer, 4).launch);  // held back while the first runs
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::atomic_ref(values(buffer)[0]).load() != 7 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(values(buffer)[0], 7);
}

TEST_F(StreamTest, a_burst_shares_command_buffers) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  const Ref<Buffer> buffer = integers(1);
  control<void>("enceladus_sim_set_delay", int64_t{500000});  // the burst is over long before
  control<void>("enceladus_sim_reset_calls");
  for (int i = 0; i < 257; ++i) stream_.enqueue(AddLaunch(kernel.get(), buffer, 1).launch);
  stream_.synchronize();
  EXPECT_EQ(values(buffer)[0], 257);
  std::string text(1 << 16, '\0');
  control<int64_t>("enceladus_sim_calls", text.data(), static_cast<int64_t>(text.size()));
  const size_t commits = text.find("MTLCommandBuffer commit]");
  ASSERT_NE(commits, std::string::npos);
  EXPECT_NE(text.substr(commits, 60).find("\"calls\": 5"), std::string::npos)
      << text.substr(commits, 60);  // the first alone, then four of 64
}

TEST_F(StreamTest, threads_launch_and_wait_at_once) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  const Ref<Buffer> buffer = integers(1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const Ticket ticket = stream_.enqueue(AddLaunch(kernel.get(), buffer, 1).launch);
        if (i % 10 == 9) stream_.wait(ticket, std::chrono::hours(1));
      }
    });
  for (std::thread& thread : threads) thread.join();
  stream_.synchronize();
  EXPECT_EQ(values(buffer)[0], 200);
}

TEST_F(StreamTest, memory_dropped_behind_a_launch_lives_until_it_has_run) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  for (int i = 0; i < 100; ++i) {
    const Ref<Buffer> buffer = integers(1000);
    stream_.enqueue(AddLaunch(kernel.get(), buffer, 1, 1000).launch);
  }
  stream_.synchronize();
}

TEST_F(StreamTest, no_object_is_left_after_ten_thousand_launches) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  control<void>("enceladus_sim_set_executes", int32_t{0});
  const auto run = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const Ref<Buffer> buffer = integers(1);
      stream_.enqueue(AddLaunch(kernel.get(), buffer, 1).launch);
    }
    stream_.synchronize();
    // What the last command buffer held is released by its completed handler.
    int64_t live = control<int64_t>("enceladus_sim_live_objects");
    for (int i = 0; i < 1000 && live > settled_; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      stream_.wait(stream_.newest(), {});
      live = control<int64_t>("enceladus_sim_live_objects");
    }
    return live;
  };
  settled_ = INT64_MAX;
  settled_ = run(64);
  EXPECT_LE(run(10000), settled_);
}

TEST_F(StreamTest, events_lie_between_the_launches_around_them) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  const Ref<Buffer> buffer = integers(1000);
  const Ref<Event> before = device_.make_event(), after = device_.make_event();
  stream_.record(*before);
  for (int i = 0; i < 3; ++i) stream_.enqueue(AddLaunch(kernel.get(), buffer, 1, 1000).launch);
  stream_.record(*after);
  stream_.enqueue(AddLaunch(kernel.get(), buffer, 1, 1000).launch);
  stream_.synchronize();
  EXPECT_GT(before->nanoseconds_until(*after), 0);
  EXPECT_TRUE(stream_.is_complete(after->last_ticket()));
}

TEST_F(StreamTest, a_report_of_the_simulator_is_raised_once_and_names_the_place) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  const Ref<Buffer> buffer = integers(2);
  stream_.enqueue(AddLaunch(kernel.get(), buffer, 1, 3).launch);
  try {
    stream_.synchronize();
    FAIL() << "the third program writes out of bounds";
  } catch (const LaunchFailure& failure) {
    const std::string text = failure.what();
    EXPECT_EQ(failure.kind(), FailureKind::kOutOfBounds);
    EXPECT_NE(text.find("kernel `add`: add: out of bounds"), std::string::npos) << text;
    EXPECT_NE(text.find("line 7, program (2, 0, 0), thread 0"), std::string::npos) << text;
  }
  stream_.enqueue(AddLaunch(kernel.get(), buffer, 1, 2).launch);
  stream_.synchronize();
  EXPECT_EQ(values(buffer)[0], 2);
}

TEST_F(StreamTest, an_error_in_a_batch_names_the_kernels_in_it) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  const Ref<Buffer> buffer = integers(1);
  control<void>("enceladus_sim_inject", "commit", int64_t{0});
  stream_.enqueue(AddLaunch(kernel.get(), buffer, 1).launch);
  try {
    stream_.synchronize();
    FAIL() << "the command buffer fails";
  } catch (const DeviceFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("kernel `add`: "), std::string::npos)
        << failure.what();
  }
}

TEST_F(StreamTest, more_launches_than_may_be_under_way_wait_for_room) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  const Ref<Buffer> buffer = integers(1);
  control<void>("enceladus_sim_set_executes", int32_t{0});
  control<void>("enceladus_sim_set_delay", int64_t{3000});
  for (size_t i = 0; i < 64 * (MetalStream::kMostBatches + 8); ++i)
    stream_.enqueue(AddLaunch(kernel.get(), buffer, 1).launch);
  stream_.synchronize();
}

}  // namespace
}  // namespace enceladus::metal
