#include "runtime/cuda/tensor_maps.h"

#include <gtest/gtest.h>

#include "journal.h"
#include "runtime/common/failure.h"

namespace enceladus::cuda {
namespace {

using Kind = LaunchStep::Kind;

const std::vector<Parameter> kParameters = {{.name = "p", .is_pointer = true},
                                            {.name = "rows", .dtype = DType::kInt32},
                                            {.name = "columns", .dtype = DType::kInt32}};

Artifact with_map() {
  Artifact artifact;
  const LaunchExpression columns = {{Kind::kParameter, 2}};
  artifact.tensor_maps = {
      {.address = {{Kind::kParameter, 0}},
       .shape = {columns, {{Kind::kParameter, 1}}},
       .strides = {{{Kind::kParameter, 2}, {Kind::kConstant, 2}, {Kind::kMultiply, 0}}},
       .box = {64, 128},
       .element = 6,
       .swizzle = 3,
       .promotion = 2}};
  return artifact;
}

TEST(TensorMaps, expressions_read_parameters_by_their_types) {
  const std::vector<uint64_t> values = {0xFFFFFFFFFF000000, 0xFFFFFFFF, 7};  // address, -1, 7
  const auto of = [&](const LaunchExpression& steps) {
    return evaluate(steps, kParameters, values);
  };
  EXPECT_EQ(of({{Kind::kParameter, 1}, {Kind::kParameter, 2}, {Kind::kMultiply, 0}}), -7);
  EXPECT_EQ(of({{Kind::kParameter, 2}, {Kind::kConstant, 2}, {Kind::kDivide, 0}}), 3);
  EXPECT_EQ(of({{Kind::kParameter, 2}, {Kind::kConstant, 9}, {Kind::kMinimum, 0}}), 7);
  EXPECT_EQ(of({{Kind::kConstant, 1}, {Kind::kParameter, 2}, {Kind::kSubtract, 0}}), -6);
  EXPECT_THROW(of({{Kind::kConstant, 1}, {Kind::kConstant, 0}, {Kind::kDivide, 0}}), DeviceFailure);
}

TEST(TensorMaps, a_launch_encodes_its_map_once_for_each_set_of_values) {
  const Ref<Kernel> tiled = load("nothing", kParameters, with_map());
  Stream& stream = device().default_stream();
  const auto launch = [&](uint64_t columns) {
    const std::array<uint64_t, 3> parameters = {0x7000, 100, columns};
    stream.enqueue({.kernel = tiled.get(), .parameters = parameters, .grid = {1, 1, 1}});
  };
  const Journal journal;
  launch(256);
  launch(512);
  launch(256);
  const std::vector<std::string> expected = {
      "encode element 6 rank 2 shape 256 100 stride 512 box 64 128 swizzle 3 promotion 2",
      "encode element 6 rank 2 shape 512 100 stride 1024 box 64 128 swizzle 3 promotion 2"};
  EXPECT_EQ(journal.lines("encode"), expected);
}

TEST(TensorMaps, an_array_without_elements_is_one_of_blank_memory) {
  const Ref<Kernel> tiled = load("nothing", kParameters, with_map());
  const Journal journal;
  const std::array<uint64_t, 3> parameters = {0x7000, 0, 256};
  device().default_stream().enqueue(
      {.kernel = tiled.get(), .parameters = parameters, .grid = {1, 1, 1}});
  const std::vector<std::string> expected = {
      "encode element 6 rank 2 shape 1 1 stride 16 box 64 128 swizzle 3 promotion 2"};
  EXPECT_EQ(journal.lines("encode"), expected);
}

TEST(TensorMaps, values_that_the_driver_refuses_are_named) {
  const Ref<Kernel> tiled = load("nothing", kParameters, with_map());
  const std::array<uint64_t, 3> parameters = {0x7000, 100, 513};
  const std::string message = message_of<DeviceFailure>([&] {
    device().default_stream().enqueue(
        {.kernel = tiled.get(), .parameters = parameters, .grid = {1, 1, 1}});
  });
  EXPECT_NE(message.find("shape 513 100, strides in bytes 1026, box 64 128"), std::string::npos)
      << message;
  EXPECT_NE(message.find("kernel `nothing`"), std::string::npos) << message;
}

}  // namespace
}  // namespace enceladus::cuda
