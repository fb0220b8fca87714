#include "codegen/cpu/host_target.h"

#include <gtest/gtest.h>
#include <llvm/Target/TargetMachine.h>

namespace enceladus::cpu {
namespace {

TEST(HostTarget, host_has_a_name_and_a_vector_width) {
  const HostTarget& host = host_target();
  EXPECT_FALSE(host.cpu.empty());
  EXPECT_GE(host.vector_bytes, 16);
  EXPECT_NE(make_target_machine(host), nullptr);
}

TEST(HostTarget, named_processors_differ_in_width_and_instructions) {
  if (host_target().architecture != Architecture::kX86) GTEST_SKIP() << "x86-64 processor names";
  const HostTarget zen4 = target_of_cpu("znver4");
  EXPECT_EQ(zen4.vector_bytes, 64);
  EXPECT_EQ(zen4.vector_registers, 32);
  EXPECT_TRUE(zen4.has_avx512_bfloat16 && zen4.has_avx512_vnni && zen4.has_fma);
  const HostTarget haswell = target_of_cpu("haswell");
  EXPECT_EQ(haswell.vector_bytes, 32);
  EXPECT_EQ(haswell.vector_registers, 16);
  EXPECT_TRUE(haswell.has_fma && !haswell.has_avx512_vnni && !haswell.has_avx_vnni);
  EXPECT_FALSE(zen4.has_amx_bfloat16 || zen4.has_amx_int8);
  const HostTarget rapids = target_of_cpu("sapphirerapids");
  EXPECT_TRUE(rapids.has_amx_bfloat16 && rapids.has_amx_int8);
  const HostTarget oldest = target_of_cpu("x86-64");
  EXPECT_EQ(oldest.vector_bytes, 16);
  EXPECT_FALSE(oldest.has_fma);
}

}  // namespace
}  // namespace enceladus::cpu
