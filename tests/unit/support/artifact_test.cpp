#include "support/artifact.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace enceladus {
namespace {

Artifact example() {
  Artifact artifact;
  artifact.target = "cpu";
  artifact.kernel = "add";
  artifact.entry = "add_0";
  artifact.binary = std::string(
      "\x7f"
      "ELF\0\1\2",
      7);
  artifact.stages = {{"ir", "func"}, {"llir", "define"}, {"asm", ""}};
  artifact.parameters = {{"x", DType::kFloat16, true, true, false},
                         {"n", DType::kInt64, false, false, false, 3}};
  artifact.scratch_bytes = 1 << 20;
  artifact.spills = 8;
  artifact.threads = 384;
  artifact.is_persistent = true;
  using Kind = LaunchStep::Kind;
  artifact.tensor_maps = {
      {.address = {{Kind::kParameter, 0}},
       .shape = {{{Kind::kParameter, 1}}, {{Kind::kConstant, 64}}},
       .strides = {{{Kind::kParameter, 1}, {Kind::kConstant, 2}, {Kind::kMultiply, 0}}},
       .box = {64, 128},
       .element = 6,
       .swizzle = 3,
       .promotion = 2}};
  artifact.messages = {"kernel.py:3: x > 0"};
  artifact.bytes_per_program = 12.5;
  artifact.walk = {1, 0, 2};
  artifact.needs_extents = true;
  artifact.language_version = 31;
  artifact.math_mode = "precise";
  artifact.logs = true;
  artifact.messages = {"a.py:3: assertion failed", ""};
  artifact.explain = "{}";
  return artifact;
}

TEST(Artifact, serialize_keeps_every_field) {
  EXPECT_EQ(deserialize(serialize(example())), example());
}

TEST(Artifact, every_truncation_is_noticed) {
  std::string bytes = serialize(example());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(deserialize(bytes.substr(0, size)), std::runtime_error) << size;
  EXPECT_THROW(deserialize(bytes + "x"), std::runtime_error);
}

TEST(Artifact, every_flipped_bit_is_noticed) {
  std::string bytes = serialize(example());
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_THROW(deserialize(damaged), std::runtime_error) << bit;
  }
}

TEST(Artifact, another_version_is_named) {
  std::string bytes = serialize(example());
  bytes[8] = 99;
  try {
    deserialize(bytes);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the compiled kernel is of version 99, not 3");
  }
}

}  // namespace
}  // namespace enceladus
