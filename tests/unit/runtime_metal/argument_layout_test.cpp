#include "runtime/metal/argument_layout.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/common/failure.h"

namespace enceladus::metal {
namespace {

Artifact with_parameters(std::vector<Parameter> parameters) {
  Artifact artifact;
  artifact.kernel = "k";
  artifact.parameters = std::move(parameters);
  return artifact;
}

Parameter pointer(DType dtype) { return {.name = "p", .dtype = dtype, .is_pointer = true}; }
Parameter scalar(DType dtype) { return {.name = "s", .dtype = dtype}; }

TEST(ArgumentLayout, pointers_come_first_and_scalars_are_packed_behind_them) {
  const ArgumentLayout layout = layout_arguments(
      with_parameters({scalar(DType::kInt8), pointer(DType::kFloat32), scalar(DType::kFloat16),
                       scalar(DType::kInt64), pointer(DType::kInt1), scalar(DType::kInt1)}));
  ASSERT_EQ(layout.pointers.size(), 2u);
  EXPECT_EQ(layout.pointers[0].parameter, 1u);
  EXPECT_EQ(layout.pointers[1].parameter, 4u);
  EXPECT_EQ(layout.pointers[1].index, 1u);
  ASSERT_EQ(layout.scalars.size(), 1u);
  EXPECT_EQ(layout.scalars[0].index, 2u);
  EXPECT_EQ(layout.scalars[0].bytes, 24u);  // 1, 2 at 2, 8 at 8, 1 at 16, padded to 8
  EXPECT_EQ(layout.failure_index, -1);
}

TEST(ArgumentLayout, scalars_keep_their_low_bytes_at_their_natural_places) {
  const ArgumentLayout layout = layout_arguments(
      with_parameters({scalar(DType::kInt8), scalar(DType::kInt32), scalar(DType::kInt16)}));
  const uint64_t slots[] = {0xffffffffffffff81u, 0x11223344u, 0x5566u};
  unsigned char bytes[12];
  ASSERT_EQ(layout.scalars[0].bytes, sizeof(bytes));
  pack_scalars(layout.scalars[0], slots, reinterpret_cast<char*>(bytes));
  const unsigned char wanted[12] = {0x81, 0, 0, 0, 0x44, 0x33, 0x22, 0x11, 0x66, 0x55, 0, 0};
  EXPECT_EQ(std::memcmp(bytes, wanted, sizeof(bytes)), 0);
}

TEST(ArgumentLayout, a_kernel_that_asserts_takes_one_more_buffer) {
  Artifact artifact = with_parameters({pointer(DType::kFloat32)});
  artifact.messages = {"a.py:1: no"};
  EXPECT_EQ(layout_arguments(artifact).failure_index, 1);
  artifact.parameters.push_back(scalar(DType::kInt32));
  EXPECT_EQ(layout_arguments(artifact).failure_index, 2);
}

TEST(ArgumentLayout, hand_written_kernels_take_each_parameter_at_its_slot) {
  Parameter x = pointer(DType::kFloat32), n = scalar(DType::kInt32), a = scalar(DType::kFloat16);
  x.slot = 4;
  n.slot = 0;
  a.slot = 2;
  const ArgumentLayout layout = layout_arguments(with_parameters({x, n, a}));
  EXPECT_EQ(layout.pointers[0].index, 4u);
  ASSERT_EQ(layout.scalars.size(), 2u);
  EXPECT_EQ(layout.scalars[0].index, 0u);
  EXPECT_EQ(layout.scalars[0].bytes, 4u);
  EXPECT_EQ(layout.scalars[1].index, 2u);
  EXPECT_EQ(layout.scalars[1].bytes, 2u);
}

TEST(ArgumentLayout, more_buffers_than_metal_has_are_refused) {
  const std::vector<Parameter> most(31, pointer(DType::kInt8));
  EXPECT_EQ(layout_arguments(with_parameters(most)).pointers.size(), 31u);
  std::vector<Parameter> more = most;
  more.push_back(scalar(DType::kInt32));
  try {
    layout_arguments(with_parameters(more));
    FAIL();
  } catch (const DeviceFailure& failure) {
    EXPECT_STREQ(failure.what(), "kernel `k` takes 32 buffers, but Metal has 31");
  }
}

TEST(ArgumentLayout, more_scalars_than_metal_passes_are_refused) {
  const std::vector<Parameter> most(512, scalar(DType::kInt64));
  EXPECT_EQ(layout_arguments(with_parameters(most)).scalars[0].bytes, kMostScalarBytes);
  std::vector<Parameter> more = most;
  more.push_back(scalar(DType::kInt8));
  try {
    layout_arguments(with_parameters(more));
    FAIL();
  } catch (const DeviceFailure& failure) {
    EXPECT_STREQ(failure.what(),
                 "kernel `k` takes 4104 bytes of scalars, but Metal passes at most 4096");
  }
}

}  // namespace
}  // namespace enceladus::metal
