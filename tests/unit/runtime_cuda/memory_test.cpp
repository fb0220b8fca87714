#include "runtime/cuda/memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "journal.h"
#include "runtime/common/failure.h"

namespace enceladus::cuda {
namespace {

TEST(CudaMemory, a_full_device_gives_back_what_the_pool_keeps_before_it_gives_up) {
  const Setting setting("FAKE_CUDA_MEMORY", "1000000");
  device().allocate(600000, false);  // freed at once: the pool keeps it
  const Journal journal;
  const Ref<Buffer> second = device().allocate(600000, false);
  EXPECT_EQ(journal.lines("cuMemPoolTrimTo").size(), 1u);
  const std::string message = message_of<std::bad_alloc>([] { device().allocate(600000, false); });
  EXPECT_NE(message.find("cuda:0 has no 600000 bytes left"), std::string::npos) << message;
}

TEST(CudaMemory, memory_of_a_pending_launch_is_freed_in_stream_order) {
  const Ref<Kernel> kernel = load("nothing", {array("x", true, true)});
  Ref<Buffer> memory = device().allocate(64, false);
  Resource* resources[] = {memory.get()};
  const std::array<uint64_t, 1> parameters = {address(memory->data())};
  device().default_stream().enqueue({.kernel = kernel.get(),
                                     .parameters = parameters,
                                     .grid = {1, 1, 1},
                                     .resources = resources});
  const Journal journal;
  memory = {};
  EXPECT_EQ(journal.lines("cuMemFreeAsync").size(), 1u);
}

TEST(CudaMemory, copies_and_fills_reach_every_byte) {
  const Ref<Buffer> one = device().allocate(4096, true), other = device().allocate(4096, false);
  std::vector<uint32_t> values(1024);
  device().copy_to_host(values.data(), one->data(), 4096);
  EXPECT_EQ(values, std::vector<uint32_t>(1024, 0));
  device().fill(one->data(), 1024, 4, 0x01020304);
  device().copy_within(other->data(), one->data(), 4096);
  device().copy_to_host(values.data(), other->data(), 4096);
  EXPECT_EQ(values, std::vector<uint32_t>(1024, 0x01020304));
}

TEST(CudaMemory, random_numbers_are_those_of_the_host_across_chunks) {
  const int64_t count = (int64_t{1} << 20) + 7;
  std::vector<float> expected(static_cast<size_t>(count)), found(expected.size());
  const Ref<Buffer> memory = device().allocate(count * 4, false);
  RandomFill fill{.data = expected.data(),
                  .dtype = DType::kFloat32,
                  .distribution = Distribution::kNormal,
                  .seed = 5,
                  .offset = 11};
  fill_random(fill, 0, count);
  fill.data = memory->data();
  device().fill_random(fill, count, *memory);
  device().copy_to_host(found.data(), memory->data(), count * 4);
  EXPECT_EQ(found, expected);
}

TEST(CudaFork, a_child_of_a_process_that_used_cuda_is_told_so) {
  device().default_stream().synchronize();
  const pid_t child = fork();
  if (child == 0) {
    const std::string message = message_of<DeviceFailure>([] { device().allocate(64, false); });
    _exit(message.find("forked") == std::string::npos);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  device().default_stream().synchronize();  // the parent goes on
}

}  // namespace
}  // namespace enceladus::cuda
