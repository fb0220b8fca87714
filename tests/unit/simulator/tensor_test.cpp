// matmul2d of Metal 4 on tensors over plain pointers: products, edges, scopes and layouts.
#include <gtest/gtest.h>

#include "kernel_runner.h"
#include "simulator/errors.h"

namespace enceladus::simulator {
namespace {

SimulatedKernel load_tensor_kernel(const std::string& body) {
  CompileOptions options;
  options.language_version = 400;
  std::string text =
      "#include <metal_stdlib>\n#include <metal_tensor>\n"
      "#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"
      "using namespace metal;\nusing namespace mpp::tensor_ops;\n" +
      body;
  return SimulatedKernel::load(text, "k", options);
}

constexpr const char* kProduct = R"(
struct Sizes { int rows, columns, depth; };
kernel void k(device float* a, device float* b, device float* c, constant Sizes& sizes,
              uint2 program [[threadgroup_position_in_grid]]) {
  auto left = tensor<device float, dextents<int32_t, 2>, tensor_inline>(
      a, dextents<int32_t, 2>(sizes.depth, sizes.rows));
  auto right = tensor<device float, dextents<int32_t, 2>, tensor_inline>(
      b, dextents<int32_t, 2>(sizes.columns, sizes.depth));
  auto result = tensor<device float, dextents<int32_t, 2>, tensor_inline>(
      c, dextents<int32_t, 2>(sizes.columns, sizes.rows));
  constexpr auto descriptor = matmul2d_descriptor(
      16, 32, static_cast<int>(dynamic_extent), false, false, false,
      matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroups<2>> product;
  auto l = left.slice(0, program.y * 16);
  auto r = right.slice(program.x * 32, 0);
  auto sums = product.get_destination_cooperative_tensor<decltype(l), decltype(r), float>();
  for (ushort i = 0; i < sums.get_capacity(); ++i)
    if (sums.is_valid_element(i)) sums[i] = 1000.0f;
  product.run(l, r, sums);
  for (ushort i = 0; i < sums.get_capacity(); ++i) {
    if (!sums.is_valid_element(i)) continue;
    auto at = sums.get_multidimensional_index(i);
    sums[i] += 0.5f * (program.y * 16 + at[1]);
  }
  auto out = result.slice(program.x * 32, program.y * 16);
  sums.store(out);
})";

TEST(Tensor, MultipliesWithEdgesInEveryLayoutAndSchedule) {
  SimulatedKernel kernel = load_tensor_kernel(kProduct);
  struct {
    int32_t rows = 20, columns = 40, depth = 12;
  } sizes;
  std::vector<float> a(20 * 12), b(12 * 40), c(20 * 40);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5);
  for (FragmentLayout layout : {FragmentLayout::kApple, FragmentLayout::kPermuted}) {
    for (Schedule schedule : {Schedule::kInOrder, Schedule::kReversed, Schedule::kRandom}) {
      Launch launch;
      launch.buffer(a).buffer(b).buffer(c).constant(sizes).schedule(schedule);
      launch.request().grid = {2, 2, 1};
      launch.request().fragment_layout = layout;
      Reports reports = launch.run(kernel);
      EXPECT_TRUE(reports.empty()) << texts(reports);
      for (int row = 0; row < 20; ++row) {
        for (int column = 0; column < 40; ++column) {
          float right = 1000.0f + 0.5f * static_cast<float>(row);
          for (int k = 0; k < 12; ++k) right += a[row * 12 + k] * b[k * 40 + column];
          ASSERT_EQ(c[row * 40 + column], right) << row << ", " << column;
        }
      }
    }
  }
}

TEST(Tensor, ReportsAScopeThatIsNotTheThreadgroup) {
  SimulatedKernel kernel = load_tensor_kernel(kProduct);
  struct {
    int32_t rows = 16, columns = 32, depth = 8;
  } sizes;
  std::vector<float> a(16 * 8), b(8 * 32), c(16 * 32);
  Reports reports = Launch().buffer(a).buffer(b).buffer(c).constant(sizes).threads(128).run(kernel);
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports[0].kind, ReportKind::kDivergentSimd) << texts(reports);
  EXPECT_EQ(reports[0].place.text, "product.run(l, r, sums);");
}

TEST(Tensor, ReportsAProductInABranch) {
  std::string body = kProduct;
  body.replace(body.find("product.run"), 0, "if (sizes.depth > 100 || l.get_extent(1) < 10) ");
  SimulatedKernel kernel = load_tensor_kernel(body);
  struct {
    int32_t rows = 16, columns = 32, depth = 8;
  } sizes;
  std::vector<float> a(16 * 8), b(8 * 32), c(16 * 32);
  EXPECT_TRUE(Launch().buffer(a).buffer(b).buffer(c).constant(sizes).run(kernel).empty());
  std::string divergent = kProduct;
  divergent.replace(divergent.find("product.run"), 0,
                    "if (sums.get_multidimensional_index(0)[0] > 3) ");
  Reports reports =
      Launch().buffer(a).buffer(b).buffer(c).constant(sizes).run(load_tensor_kernel(divergent));
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports[0].kind, ReportKind::kDivergentSimd) << texts(reports);
}

TEST(Tensor, NeedsMetal4AndSupportedTypes) {
  EXPECT_THROW(SimulatedKernel::load(kPreamble + kProduct, "k", {}), MslError);
  std::string body = kProduct;
  body.replace(body.find("device float* b"), 15, "device uint* b ");
  body.replace(body.find("tensor<device float", body.find("auto right")), 19, "tensor<device uint");
  try {
    load_tensor_kernel(body);
    FAIL() << "accepted";
  } catch (const MslError& error) {
    EXPECT_NE(std::string(error.what()).find("no such combination"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace enceladus::simulator
