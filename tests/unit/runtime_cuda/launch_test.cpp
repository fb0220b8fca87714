#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "journal.h"
#include "runtime/common/failure.h"

namespace enceladus::cuda {
namespace {

struct HostLaunch {
  std::array<uint64_t, 4> parameters;
  std::array<uint64_t, 8> extents{};
  std::array<uint16_t, 3> host = {0, 1, 2};

  HostLaunch(const std::vector<float>& x, const std::vector<float>& y, float* out, size_t n)
      : parameters{address(x.data()), address(y.data()), address(out), n} {
    for (size_t i = 0; i < 3; ++i) {
      extents[2 * i] = parameters[i];
      extents[2 * i + 1] = parameters[i] + n * sizeof(float);
    }
  }
  Launch launch(Kernel& kernel) {
    return {.kernel = &kernel,
            .parameters = parameters,
            .extents = extents,
            .grid = {1, 1, 1},
            .host_arrays = host};
  }
};

TEST(CudaLaunch, host_arrays_are_copied_in_and_only_what_is_written_is_copied_out) {
  const Ref<Kernel> kernel = add_kernel();
  std::vector<float> x(1000), y(1000, 2.0f), out(1000, -1.0f);
  std::iota(x.begin(), x.end(), 0.0f);
  HostLaunch launch(x, y, out.data(), x.size());
  const Journal journal;
  device().default_stream().run_now(launch.launch(*kernel));
  EXPECT_EQ(out[999], 1001.0f);
  EXPECT_EQ(journal.lines("to device").size(), 3u);
  EXPECT_EQ(journal.lines("to host"), std::vector<std::string>{"to host 4000"});
}

TEST(CudaLaunch, arrays_that_overlap_share_one_copy) {
  const Ref<Kernel> kernel = add_kernel();
  std::vector<float> x(1000, 1.0f);
  HostLaunch launch(x, x, x.data(), x.size());
  const Journal journal;
  device().default_stream().run_now(launch.launch(*kernel));
  EXPECT_EQ(x[5], 2.0f);
  EXPECT_EQ(journal.lines("to device").size(), 1u);
}

TEST(CudaLaunch, large_host_arrays_pass_through_both_chunks_unchanged) {
  const Ref<Kernel> kernel = add_kernel();
  const size_t n = (size_t{9} << 20) / sizeof(float) + 3;
  std::vector<float> x(n), y(n, 1.0f), out(n);
  std::iota(x.begin(), x.end(), 0.0f);
  HostLaunch launch(x, y, out.data(), n);
  device().default_stream().run_now(launch.launch(*kernel));
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], x[i] + 1.0f) << i;
}

TEST(CudaLaunch, a_refused_launch_names_its_kernel_and_leaves_the_device_usable) {
  const Ref<Kernel> kernel = add_kernel();
  const Launch launch{.kernel = kernel.get(), .grid = {1, 1, 1}};
  Stream& stream = device().default_stream();
  const Ticket before = stream.newest();
  {
    const Setting setting("FAKE_CUDA_FAIL", "cuLaunchKernel=701");
    const std::string message = message_of<DeviceFailure>([&] { stream.enqueue(launch); });
    EXPECT_NE(message.find("cuLaunchKernel for kernel `add_kernel`"), std::string::npos) << message;
    EXPECT_NE(message.find("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"), std::string::npos) << message;
    EXPECT_EQ(message.find("lost"), std::string::npos) << message;
  }
  EXPECT_EQ(stream.newest(), before);
  stream.synchronize();
}

TEST(CudaLaunch, a_launch_on_a_frameworks_stream_waits_for_memory_of_ours_both_ways) {
  const Ref<Kernel> kernel = load("nothing", {array("x", true, true)});
  const Ref<Buffer> memory = device().allocate(64, false);
  Resource* resources[] = {memory.get()};
  const std::array<uint64_t, 1> parameters = {address(memory->data())};
  Launch launch{.kernel = kernel.get(),
                .parameters = parameters,
                .grid = {2, 1, 1},
                .resources = resources,
                .native_stream = reinterpret_cast<void*>(uintptr_t{77})};
  {
    const Journal journal;
    device().default_stream().enqueue(launch);
    const std::vector<std::string> expected = {
        "event in stream 1", "wait in stream 77",
        "launch nothing grid 2 1 1 threads 128 shared 0 stream 77", "event in stream 77",
        "wait in stream 1"};
    EXPECT_EQ(journal.lines(), expected);
  }
  // Captured into a graph (the fake driver says so of stream 99): no waiting across.
  launch.native_stream = reinterpret_cast<void*>(uintptr_t{99});
  const Journal journal;
  device().default_stream().enqueue(launch);
  EXPECT_EQ(journal.lines().size(), 1u);
  device().default_stream().synchronize();
}

TEST(CudaLaunch, a_persistent_kernel_gets_as_many_programs_as_the_device_holds) {
  Artifact artifact;
  artifact.is_persistent = true;
  artifact.num_warps = 8;
  artifact.shared_bytes = 1000;
  const Ref<Kernel> kernel = load("nothing", {}, artifact);
  const Journal journal;
  device().default_stream().enqueue({.kernel = kernel.get(), .grid = {100, 50, 1}});
  device().default_stream().enqueue({.kernel = kernel.get(), .grid = {5, 1, 1}});
  const std::vector<std::string> expected = {
      "launch nothing grid 264 1 1 threads 256 shared 1000 stream 1",
      "launch nothing grid 5 1 1 threads 256 shared 1000 stream 1"};
  EXPECT_EQ(journal.lines(), expected);
}

TEST(CudaLaunch, a_kernel_that_waits_for_its_predecessor_itself_may_start_before_its_end) {
  Artifact artifact;
  artifact.stages = {{"cuda", "... griddepcontrol.wait; ..."}};
  const Ref<Kernel> kernel = load("nothing", {}, artifact);
  const Journal journal;
  device().default_stream().enqueue({.kernel = kernel.get(), .grid = {3, 1, 1}});
  const std::vector<std::string> expected = {
      "attribute 6 is 1", "launch nothing grid 3 1 1 threads 128 shared 0 stream 1"};
  EXPECT_EQ(journal.lines(), expected);
}

TEST(CudaLaunch, below_compute_capability_9_no_kernel_starts_before_its_predecessors_end) {
  const Setting setting("FAKE_CUDA_CAPABILITY", "80");
  Artifact artifact;
  artifact.stages = {{"cuda", "... griddepcontrol.wait; ..."}};
  const Ref<Kernel> kernel = load("nothing", {}, artifact);
  const Journal journal;
  device().default_stream().enqueue({.kernel = kernel.get(), .grid = {3, 1, 1}});
  EXPECT_EQ(journal.lines().size(), 1u);
}

TEST(CudaLaunch, more_shared_memory_than_the_device_has_is_refused_with_both_figures) {
  Artifact artifact;
  artifact.shared_bytes = 300000;
  const std::string message = message_of<DeviceFailure>([&] { load("nothing", {}, artifact); });
  EXPECT_NE(message.find("300000 bytes of shared memory"), std::string::npos) << message;
  EXPECT_NE(message.find("232448"), std::string::npos) << message;
}

TEST(CudaLaunch, a_failed_assertion_is_raised_by_the_synchronization_with_program_and_text) {
  Artifact artifact;
  artifact.messages = {"k.py:1: a", "k.py:2: b"};
  const Ref<Kernel> kernel = load("assert_kernel", {array("x", true, false)}, artifact);
  const std::array<uint64_t, 1> parameters = {0};
  Stream& stream = device().default_stream();
  stream.enqueue({.kernel = kernel.get(), .parameters = parameters, .grid = {1, 1, 1}});
  EXPECT_EQ(message_of<LaunchFailure>([&] { stream.synchronize(); }),
            "kernel `assert_kernel`, program (3, 2, 1): k.py:2: b");
  stream.synchronize();  // raised once
}

TEST(CudaLaunch, events_give_the_drivers_time) {
  const Ref<Event> start = device().make_event(), end = device().make_event();
  device().default_stream().record(*start);
  device().default_stream().record(*end);
  device().default_stream().synchronize();
  EXPECT_EQ(start->nanoseconds_until(*end), 1500000);
}

// On the second device, for nothing runs there afterwards.
TEST(CudaLaunch, an_illegal_address_names_the_suspects_and_says_that_the_context_is_lost) {
  Device& device = *devices().at(1);
  const Ref<Kernel> one = load("one", {}, {}, device), other = load("other", {}, {}, device);
  Stream& stream = device.default_stream();
  stream.synchronize();
  stream.enqueue({.kernel = one.get(), .grid = {1, 1, 1}});
  stream.enqueue({.kernel = other.get(), .grid = {1, 1, 1}});
  const Setting setting("FAKE_CUDA_FAULT", "700");
  const std::string message = message_of<DeviceFailure>([&] { stream.synchronize(); });
  EXPECT_NE(message.find("one of the kernels `one`, `other`"), std::string::npos) << message;
  EXPECT_NE(message.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << message;
  EXPECT_NE(message.find("context of this process is lost"), std::string::npos) << message;
  const std::string later =
      message_of<DeviceFailure>([&] { stream.enqueue({.kernel = one.get(), .grid = {1, 1, 1}}); });
  EXPECT_NE(later.find("context of this process is lost"), std::string::npos) << later;
}

}  // namespace
}  // namespace enceladus::cuda
