// Memory that is bound to more than one slot is one memory: what is stored through one is read
// through the other, races are found across them, and parts that do not overlap keep their bounds.
// And kernels that are instances of templates.
#include <gtest/gtest.h>

#include <numeric>

#include "kernel_runner.h"
#include "simulator/errors.h"

namespace enceladus::simulator {
namespace {

LaunchRequest request_of(std::vector<BoundMemory> bindings) {
  LaunchRequest request;
  request.bindings = std::move(bindings);
  request.threads = {64, 1, 1};
  return request;
}

constexpr const char* kCopyUp = R"(
kernel void k(device float* a, device const float* b, uint i [[thread_position_in_grid]]) {
  a[i] = 1;
  threadgroup_barrier(mem_flags::mem_device);
  a[i] = b[63 - i] + 1;
})";

TEST(Aliases, StoresThroughOneSlotAreReadThroughTheOther) {
  SimulatedKernel kernel = load_kernel(R"(
kernel void k(device float* a, device const float* b, device float* c,
              uint i [[thread_position_in_grid]]) {
  a[i] = i;
  threadgroup_barrier(mem_flags::mem_device);
  c[i] = b[63 - i];
})");
  std::vector<float> memory(64), c(64);
  Reports reports = kernel.run(
      request_of({{0, memory.data(), 256}, {1, memory.data(), 256, true}, {2, c.data(), 256}}));
  EXPECT_TRUE(reports.empty()) << texts(reports);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(c[i], static_cast<float>(63 - i));
}

TEST(Aliases, OverlappingPartsKeepTheirOffsets) {
  SimulatedKernel kernel = load_kernel(R"(
kernel void k(device float* a, device float* b, uint i [[thread_position_in_grid]]) {
  if (i < 48) a[i] = 1;
  threadgroup_barrier(mem_flags::mem_device);
  if (i < 48) b[i] += 2;
})");
  std::vector<float> memory(64);
  Reports reports = kernel.run(request_of({{0, memory.data(), 192}, {1, memory.data() + 16, 192}}));
  EXPECT_TRUE(reports.empty()) << texts(reports);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(memory[i], i < 16 ? 1 : i < 48 ? 3 : 2) << i;
}

TEST(Aliases, RacesAreFoundAcrossSlots) {
  SimulatedKernel kernel = load_kernel(kCopyUp);
  std::vector<float> memory(64);
  Reports reports =
      kernel.run(request_of({{0, memory.data(), 256}, {1, memory.data(), 256, true}}));
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports[0].kind, ReportKind::kRace) << texts(reports);
  std::vector<float> other(64);
  EXPECT_TRUE(kernel.run(request_of({{0, memory.data(), 256}, {1, other.data(), 256}})).empty());
}

TEST(Aliases, NeighboursInOneMemoryHaveTheirOwnBounds) {
  SimulatedKernel kernel = load_kernel(R"(
kernel void k(device float* a, device const float* b, uint i [[thread_position_in_grid]]) {
  a[i] = b[i + 1];
})");
  std::vector<float> memory(128);
  Reports reports =
      kernel.run(request_of({{0, memory.data() + 64, 256}, {1, memory.data(), 256, true}}));
  ASSERT_EQ(reports.size(), 1u) << texts(reports);
  EXPECT_EQ(reports[0].kind, ReportKind::kOutOfBounds);
}

TEST(Templates, ExplicitInstantiationsAreKernels) {
  std::string text = kPreamble + R"(
template <typename T, int N>
[[kernel]] void scale(device T* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup T s[64];
  s[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = s[63 - i] * T(N);
}
template [[host_name("scale_float_2")]] kernel void scale<float, 2>(device float* x [[buffer(0)]],
                                                                  uint i);
template [[host_name("scale_int_3")]] [[kernel]] decltype(scale<int, 3>) scale<int, 3>;
kernel void plain(device int* x, uint i [[thread_position_in_grid]]) { x[i + 1000] = 0; }
)";
  EXPECT_EQ(kernel_names(text),
            (std::vector<std::string>{"plain", "scale_float_2", "scale_int_3"}));
  std::vector<float> floats(64);
  std::iota(floats.begin(), floats.end(), 0.0f);
  SimulatedKernel doubled = SimulatedKernel::load(text, "scale_float_2", {});
  EXPECT_TRUE(doubled.run(request_of({{0, floats.data(), 256}})).empty());
  EXPECT_EQ(floats[0], 126);
  std::vector<int> ints(64, 5);
  SimulatedKernel tripled = SimulatedKernel::load(text, "scale_int_3", {});
  EXPECT_TRUE(tripled.run(request_of({{0, ints.data(), 256}})).empty());
  EXPECT_EQ(ints[0], 15);
  SimulatedKernel plain = SimulatedKernel::load(text, "plain", {});
  Reports reports = plain.run(request_of({{0, ints.data(), 256}}));
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports[0].place.line, 15u);  // lines stay what they are in the text
}

TEST(Templates, WrongArgumentsAreNamed) {
  try {
    SimulatedKernel::load(kPreamble + R"(
template <typename T> kernel void one(device T* x) { x[0] = 1; }
template [[host_name("k")]] kernel void one<float, 2>(device float* x);
)",
                          "k", {});
    FAIL() << "accepted";
  } catch (const MslError& error) {
    EXPECT_NE(std::string(error.what()).find("takes 1 template arguments, not 2"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace enceladus::simulator
