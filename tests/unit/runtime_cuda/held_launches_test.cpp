// Launches that are held back for company. Streams of these tests are their own, with batches that
// nobody but the test ends, so that nothing depends on time.
#include "runtime/cuda/held_launches.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>

#include "journal.h"
#include "runtime/common/failure.h"
#include "runtime/cuda/burst.h"
#include "runtime/cuda/stream.h"

namespace enceladus::cuda {
namespace {

using std::chrono::microseconds;

const Context& context() {
  static const Context instance(driver(), 0);
  return instance;
}

// A log in the memory of the fake device, and a kernel that appends to it.
class Log {
 public:
  Log()
      : kernel_(load("append_kernel",
                     {array("log", true, true), {.name = "value", .dtype = DType::kInt32}})),
        memory_(device().allocate(4 * (kMost + 1), true)) {}
  // Holds the launch that appends `value`.
  KernelCall& hold(HeldLaunches& held, int value) const {
    auto& kernel = static_cast<CudaKernel&>(*kernel_);
    KernelCall& call = held.add();
    call.function = kernel.function();
    call.name = &kernel.artifact().kernel;
    call.argument_count = 2;
    call.arguments[0] = address(memory_->data());
    call.arguments[1] = static_cast<uint64_t>(value);
    return call;
  }
  void enqueue(Stream& stream, int value, std::array<int32_t, 3> grid = {1, 1, 1}) {
    const std::array<uint64_t, 2> parameters = {address(memory_->data()),
                                                static_cast<uint64_t>(value)};
    Resource* resources[] = {memory_.get()};
    stream.enqueue(
        {.kernel = kernel_.get(), .parameters = parameters, .grid = grid, .resources = resources});
  }
  // What was appended, in order.
  std::vector<int> values() const {
    const auto* log = static_cast<const float*>(memory_->data());
    return {log + 1, log + 1 + static_cast<int>(log[0])};
  }
  Ref<Buffer>& memory() { return memory_; }

 private:
  static constexpr int kMost = 10000;
  Ref<Kernel> kernel_;
  Ref<Buffer> memory_;
};

std::vector<int> counted(int last) {
  std::vector<int> values;
  for (int i = 1; i <= last; ++i) values.push_back(i);
  return values;
}

TEST(HeldLaunches, go_out_in_order_in_as_few_chains_as_hold_them) {
  Log log;
  HeldLaunches held(context());
  for (int i = 1; i <= 107; ++i) log.hold(held, i);
  const Journal journal;
  EXPECT_EQ(held.submit(kLegacyStream), nullptr);
  EXPECT_EQ(log.values(), counted(107));
  const std::vector<std::string> expected = {"graph of 64 in stream 1", "graph of 32 in stream 1",
                                             "graph of 8 in stream 1"};
  EXPECT_EQ(journal.lines("graph"), expected);  // and three one by one
}

TEST(HeldLaunches, a_node_that_does_the_same_again_is_left_as_it_is) {
  Log log;
  HeldLaunches held(context());
  const auto submit = [&](int different) {
    for (int i = 1; i <= 8; ++i) log.hold(held, i == 5 ? different : i);
    EXPECT_EQ(held.submit(kLegacyStream), nullptr);
    held.clear();
  };
  submit(5);
  const Journal journal;
  submit(5);
  EXPECT_EQ(journal.lines("set node").size(), 0u);
  submit(50);
  EXPECT_EQ(journal.lines("set node").size(), 1u);
  EXPECT_EQ(log.values().at(8 + 4), 5);
  EXPECT_EQ(log.values().at(2 * 8 + 4), 50);
}

TEST(HeldLaunches, chains_that_run_are_left_alone_while_there_are_others) {
  Log log;
  HeldLaunches held(context());
  const auto submit = [&](int first) {
    for (int i = 0; i < 4; ++i) log.hold(held, first + i);
    EXPECT_EQ(held.submit(kLegacyStream), nullptr);
    held.clear();
  };
  const Journal journal;
  {
    const Setting setting("FAKE_CUDA_FAIL", "cuEventQuery=600");  // nothing ever ends
    for (int turn = 0; turn < 6; ++turn) submit(1 + 4 * turn);
    EXPECT_EQ(journal.lines("instantiate").size(), 4u);
    EXPECT_EQ(journal.lines("set node").size(), 2u * 4);
  }
  submit(25);
  EXPECT_EQ(journal.lines("instantiate").size(), 4u);
  EXPECT_EQ(log.values(), counted(28));
}

TEST(HeldLaunches, where_the_driver_makes_no_graph_they_go_one_by_one) {
  Log log;
  HeldLaunches held(context());
  for (int i = 1; i <= 20; ++i) log.hold(held, i);
  const Setting setting("FAKE_CUDA_FAIL", "cuGraphInstantiateWithFlags=801");
  const Journal journal;
  EXPECT_EQ(held.submit(kLegacyStream), nullptr);
  EXPECT_EQ(log.values(), counted(20));
  EXPECT_EQ(journal.lines("instantiate").size(), 1u);  // asked once
}

TEST(HeldLaunches, where_the_driver_refuses_a_node_they_go_one_by_one) {
  Log log;
  HeldLaunches held(context());
  for (int turn = 0; turn < 3; ++turn) {
    held.clear();
    for (int i = 1; i <= 4; ++i) log.hold(held, 4 * turn + i);
    const Setting setting("FAKE_CUDA_FAIL", "cuGraphExecKernelNodeSetParams=1");
    EXPECT_EQ(held.submit(kLegacyStream), nullptr);
  }
  EXPECT_EQ(log.values(), counted(12));
}

TEST(HeldLaunches, kernels_that_wait_themselves_may_start_early_where_all_of_a_chain_do) {
  constexpr LaunchAttribute kEarly = {.which = 6, .value = {1}};
  Log log;
  HeldLaunches held(context());
  for (int i = 1; i <= 12; ++i) {
    LaunchConfiguration& shape = log.hold(held, i).shape;
    shape.attributes = &kEarly;
    shape.attribute_count = i == 2 ? 0 : 1;
  }
  const Journal journal;
  EXPECT_EQ(held.submit(kLegacyStream), nullptr);
  EXPECT_EQ(log.values(), counted(12));
  EXPECT_EQ(journal.lines("edge"), std::vector<std::string>(3, "edge of type 1 from port 1"));
}

TEST(Burst, begins_behind_a_few_quick_launches_and_ends_with_a_pause_or_a_wait) {
  Burst burst({});
  Burst::Time now{};
  const auto quick = [&] { return burst.add(now += microseconds(2)); };
  for (int i = 0; i < Burst::kAlone; ++i) EXPECT_FALSE(quick()) << i;
  EXPECT_TRUE(quick());
  EXPECT_TRUE(quick());
  EXPECT_FALSE(burst.add(now += Holding{}.longest_gap + microseconds(1)));
  for (int i = 0; i < Burst::kAlone; ++i) quick();
  EXPECT_TRUE(quick());
  burst.end();
  EXPECT_FALSE(quick());
}

TEST(Burst, batches_grow_to_the_largest_and_a_largest_of_one_holds_nothing) {
  Burst burst({.largest_batch = 24});
  EXPECT_EQ(burst.batch(), 8u);
  burst.grow();
  EXPECT_EQ(burst.batch(), 16u);
  burst.grow();
  EXPECT_EQ(burst.batch(), 24u);
  Burst none({.largest_batch = 1});
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(none.add(Burst::Time{}));
}

// Every launch behind the first few is held, for as long as the test likes.
constexpr Holding kPatient = {.longest_gap = std::chrono::hours(1),
                              .longest_held = std::chrono::hours(1)};

struct OwnStream {
  explicit OwnStream(const Holding& holding = kPatient)
      : pool(context(), kLegacyStream), stream(context(), pool, holding) {}
  ~OwnStream() { stream.synchronize(); }
  MemoryPool pool;
  CudaStream stream;
};

TEST(CudaBurst, launches_go_out_in_growing_batches_and_in_order) {
  OwnStream own;
  Log log;
  const Journal journal;
  for (int i = 1; i <= 100; ++i) log.enqueue(own.stream, i);
  EXPECT_EQ(log.values(), counted(Burst::kAlone + 8 + 16 + 32));
  own.stream.synchronize();
  EXPECT_EQ(log.values(), counted(100));
  const std::vector<std::string> expected = {"graph of 8 in stream 1", "graph of 16 in stream 1",
                                             "graph of 32 in stream 1", "graph of 32 in stream 1",
                                             "graph of 8 in stream 1"};
  EXPECT_EQ(journal.lines("graph"), expected);
}

TEST(CudaBurst, a_lone_launch_goes_out_at_once_also_behind_a_wait) {
  OwnStream own;
  Log log;
  for (int i = 1; i <= 20; ++i) log.enqueue(own.stream, i);
  own.stream.synchronize();
  log.enqueue(own.stream, 21);
  EXPECT_EQ(log.values(), counted(21));
}

TEST(CudaBurst, with_batches_of_one_nothing_is_held) {
  OwnStream own({.largest_batch = 1, .longest_gap = std::chrono::hours(1)});
  Log log;
  for (int i = 1; i <= 20; ++i) {
    log.enqueue(own.stream, i);
    ASSERT_EQ(log.values(), counted(i));
  }
}

TEST(CudaBurst, memory_that_others_may_use_is_never_held_and_what_is_goes_before) {
  OwnStream own;
  Log log;
  for (int i = 1; i <= 7; ++i) log.enqueue(own.stream, i);
  EXPECT_EQ(log.values(), counted(Burst::kAlone));
  log.memory()->expose();
  log.enqueue(own.stream, 8);
  EXPECT_EQ(log.values(), counted(8));
}

TEST(CudaBurst, a_launch_that_the_device_runs_in_several_goes_is_not_held) {
  OwnStream own;
  Log log;
  for (int i = 1; i <= 7; ++i) log.enqueue(own.stream, i);
  log.enqueue(own.stream, 8, {265, 1, 1});  // the fake device holds 2 programs * 132
  EXPECT_EQ(log.values(), counted(8));
}

TEST(CudaBurst, flushing_and_time_stamps_hand_over_what_is_held) {
  OwnStream own;
  Log log;
  for (int i = 1; i <= 6; ++i) log.enqueue(own.stream, i);
  own.stream.flush();
  EXPECT_EQ(log.values(), counted(6));
  log.enqueue(own.stream, 7);
  EXPECT_EQ(log.values(), counted(6));
  own.stream.record(*device().make_event());
  EXPECT_EQ(log.values(), counted(7));
}

TEST(CudaBurst, memory_of_a_held_launch_is_freed_behind_it) {
  OwnStream own;
  Log log;
  for (int i = 1; i <= 6; ++i) log.enqueue(own.stream, i);
  const Journal journal;
  log.memory() = {};
  EXPECT_EQ(journal.lines("cuMemFreeAsync").size(), 0u);
  own.stream.flush();
  ASSERT_EQ(journal.lines("cuMemFreeAsync").size(), 1u);
  EXPECT_EQ(journal.lines().back().rfind("cuMemFreeAsync", 0), 0u);
}

TEST(CudaBurst, what_a_held_launch_meets_is_raised_by_the_synchronization_and_names_its_kernel) {
  OwnStream own;
  Log log;
  for (int i = 1; i <= 9; ++i) log.enqueue(own.stream, i);
  {
    const Setting setting("FAKE_CUDA_FAIL", "cuLaunchKernel=701");
    own.stream.flush();
  }
  const std::string message = message_of<DeviceFailure>([&] { own.stream.synchronize(); });
  EXPECT_NE(message.find("cuLaunchKernel for kernel `append_kernel`"), std::string::npos)
      << message;
  EXPECT_NE(message.find("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"), std::string::npos) << message;
  own.stream.synchronize();  // raised once
}

TEST(CudaBurst, the_last_launches_of_a_burst_go_out_though_nobody_asks) {
  OwnStream own({.longest_gap = std::chrono::hours(1), .longest_held = microseconds(100)});
  Log log;
  for (int turn = 0; turn < 3; ++turn) {  // the thread has gone to sleep in between, or not
    const Journal journal;
    for (int i = 0; i < 6; ++i) log.enqueue(own.stream, 0);
    const auto wanted = static_cast<size_t>(6 * (turn + 1));
    for (int look = 0; look < 2000 && journal.lines("launch").size() < 6; ++look)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(log.values().size(), wanted);
    std::this_thread::sleep_for(std::chrono::milliseconds(4 * turn));
  }
}

TEST(CudaBurst, two_threads_may_launch_at_once) {
  OwnStream own;
  Log log;
  const auto launch = [&](int sign) {
    for (int i = 1; i <= 1000; ++i) log.enqueue(own.stream, sign * i);
  };
  std::thread other(launch, -1);
  launch(1);
  other.join();
  own.stream.synchronize();
  std::vector<int> ours, theirs;
  for (const int value : log.values()) (value > 0 ? ours : theirs).push_back(std::abs(value));
  EXPECT_EQ(ours, counted(1000));
  EXPECT_EQ(theirs, counted(1000));
}

}  // namespace
}  // namespace enceladus::cuda
