#include "runtime/cuda/nvrtc.h"

#include <gtest/gtest.h>

#include "journal.h"
#include "runtime/common/failure.h"
#include "runtime/cuda/early_compiler.h"

namespace enceladus::cuda {
namespace {

constexpr const char* kScale =
    "extern \"C\" __global__ void scale(float* x, float factor) {\n"
    "  x[threadIdx.x] *= factor;\n"
    "}\n";

// CI and the development machine have NVRTC; where it is missing there is nothing to test.
bool has_nvrtc() {
  const std::string message =
      message_of<DeviceFailure>([] { compile_text(kScale, "scale", "sm_90a"); });
  return message.find("needs NVRTC") == std::string::npos;
}

TEST(Nvrtc, gives_a_cubin_and_the_registers_of_the_kernel) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  const CompiledText compiled = compile_text(kScale, "scale", "sm_90a");
  EXPECT_EQ(compiled.cubin.substr(1, 3), "ELF");
  EXPECT_GT(compiled.registers, 0);
  EXPECT_EQ(compiled.spills, 0);
}

TEST(Nvrtc, starts_early_beside_a_compilation_and_once) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  expect_compilation();
  for (int i = 0; i < 2; ++i) start_compiler_early("sm_90a");
  load_compiler_early();
  EXPECT_GT(compile_text(kScale, "scale", "sm_90a").registers, 0);
  for (int i = 0; i < 2; ++i) wait_for_early_compiler();
}

TEST(Nvrtc, what_warms_the_compiler_compiles) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  for (const char* architecture : {"sm_80", "sm_90a"})
    EXPECT_NO_THROW(compile_text(kWarmingText, "warming", architecture));
}

TEST(Nvrtc, refuses_with_its_own_messages_and_the_kernels_name) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  const std::string message = message_of<DeviceFailure>(
      [] { compile_text("extern \"C\" __global__ void k() { y = 1; }", "k", "sm_90a"); });
  EXPECT_NE(message.find("refused the text of kernel `k`"), std::string::npos) << message;
  EXPECT_NE(message.find("identifier \"y\" is undefined"), std::string::npos) << message;
}

}  // namespace
}  // namespace enceladus::cuda
