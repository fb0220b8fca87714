#include <gtest/gtest.h>

#include "kernel_runner.h"

namespace enceladus::simulator {
namespace {

constexpr const char* kAdd = R"(
kernel void k(device const float* x [[buffer(0)]], device const float* y [[buffer(1)]],
              device float* out [[buffer(2)]], constant uint& count [[buffer(3)]],
              uint i [[thread_position_in_grid]]) {
  if (i < count) out[i] = x[i] + y[i];
}
)";

TEST(Simulator, AddsVectors) {
  SimulatedKernel kernel = load_kernel(kAdd);
  std::vector<float> x(100), y(100), out(100);
  for (int i = 0; i < 100; ++i) x[i] = i, y[i] = 0.5f * i;
  Reports reports =
      Launch().buffer(x).buffer(y).buffer(out).constant(uint32_t{100}).grid(2).run(kernel);
  EXPECT_TRUE(reports.empty()) << texts(reports);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(out[i], 1.5f * i);
}

TEST(Simulator, ReportsMissingMask) {
  SimulatedKernel kernel = load_kernel(kAdd);
  std::vector<float> x(100), y(100), out(100);
  Reports reports =
      Launch().buffer(x).buffer(y).buffer(out).constant(uint32_t{128}).grid(2).run(kernel);
  ASSERT_EQ(reports.size(), 3u) << texts(reports);
  for (const Report& report : reports) {
    EXPECT_EQ(report.kind, ReportKind::kOutOfBounds);
    EXPECT_EQ(report.place.line, 8u);
    EXPECT_EQ(report.place.text, "if (i < count) out[i] = x[i] + y[i];");
    EXPECT_EQ(report.program[0], 1u);
    EXPECT_EQ(report.thread, 36u);
    EXPECT_EQ(report.count, 28u);
  }
}

}  // namespace
}  // namespace enceladus::simulator
