#include "codegen/cpu/peak_kernel.h"

#include <gtest/gtest.h>

#include "codegen/cpu/load.h"

namespace enceladus::cpu {
namespace {

// x = 0.999 x + 0.001 tends to 1, so a vector of their sum tells how many accumulators there were:
// none was dropped, and every round was run.
TEST(PeakKernel, every_accumulator_is_computed) {
  const HostTarget& host = host_target();
  const Artifact artifact = make_peak_kernel(host);
  const CodeImage image = load_object(artifact.binary, artifact.entry);
  struct alignas(64) {
    char header[64];
    float result[16] = {};
  } scratch;
  ASSERT_LE(artifact.scratch_bytes, static_cast<int64_t>(sizeof(scratch.result)));
  image.entry(nullptr, 0, 1, &scratch);
  const int accumulators = host.vector_registers >= 32 ? 16 : 12;
  for (int lane = 0; lane < host.lanes(4); ++lane)
    EXPECT_NEAR(scratch.result[lane], accumulators, 0.01 * accumulators) << lane;
}

}  // namespace
}  // namespace enceladus::cpu
