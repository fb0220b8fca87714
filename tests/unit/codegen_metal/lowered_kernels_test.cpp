// Kernels of tile IR, compiled to MSL and run by the simulator in two schedules and with 1, 4 and 8
// warps: the numbers are right and the simulator has nothing to report (races, divergence, bounds).
#include <cmath>
#include <numeric>

#include "metal_kernels.h"

namespace enceladus::metal {
namespace {

class LoweredKernels : public testing::TestWithParam<int> {};

TEST_P(LoweredKernels, sums_rows_and_columns) {
  std::string text = kernel(GetParam(), "%x: ptr<f32> {aligned_16}, %y: ptr<f32>, %z: ptr<f32>", R"(
  %i = arange {start = 0} : tile<16xi32>
  %j = arange {start = 0} : tile<64xi32>
  %i1 = expand_dims %i {axis = 1} : tile<16xi32> -> tile<16x1xi32>
  %c = constant 64 : tile<16x1xi32>
  %row = mul %i1, %c : tile<16x1xi32>
  %rows = broadcast %row : tile<16x1xi32> -> tile<16x64xi32>
  %j1 = expand_dims %j {axis = 0} : tile<64xi32> -> tile<1x64xi32>
  %cols = broadcast %j1 : tile<1x64xi32> -> tile<16x64xi32>
  %o = add %rows, %cols : tile<16x64xi32>
  %p = splat %x : ptr<f32> -> tile<16x64xptr<f32>>
  %q = addptr %p, %o : tile<16x64xptr<f32>>, tile<16x64xi32>
  %v = load %q : tile<16x64xptr<f32>>
  %s = reduce %v {combine = add, axis = 1} : tile<16x64xf32> -> tile<16xf32>
  %t = reduce %v {combine = max, axis = 0} : tile<16x64xf32> -> tile<64xf32>
  %yp = splat %y : ptr<f32> -> tile<16xptr<f32>>
  %yq = addptr %yp, %i : tile<16xptr<f32>>, tile<16xi32>
  store %yq, %s : tile<16xptr<f32>>
  %zp = splat %z : ptr<f32> -> tile<64xptr<f32>>
  %zq = addptr %zp, %j : tile<64xptr<f32>>, tile<64xi32>
  store %zq, %t : tile<64xptr<f32>>
)");
  std::vector<float> x = ramp(1024);
  each_schedule(
      text, {Array::of(x), Array::of(std::vector<float>(16)), Array::of(std::vector<float>(64))},
      {}, [&](const std::vector<Array>& arrays) {
        for (size_t i = 0; i < 16; ++i)
          EXPECT_EQ(arrays[1].as<float>()[i], std::accumulate(&x[i * 64], &x[i * 64] + 64, 0.0f));
        for (size_t j = 0; j < 64; ++j) {
          float most = -1000;
          for (size_t i = 0; i < 16; ++i) most = std::max(most, x[i * 64 + j]);
          EXPECT_EQ(arrays[2].as<float>()[j], most);
        }
      });
}

TEST_P(LoweredKernels, scans_forward_and_backward) {
  for (bool reverse : {false, true}) {
    std::string attribute = reverse ? ", reverse = 1" : "";
    std::string text =
        kernel(GetParam(), "%x: ptr<f32> {aligned_16}, %y: ptr<f32> {aligned_16}", R"(
  %i = arange {start = 0} : tile<2048xi32>
  %p = splat %x : ptr<f32> -> tile<2048xptr<f32>>
  %q = addptr %p, %i : tile<2048xptr<f32>>, tile<2048xi32>
  %v = load %q : tile<2048xptr<f32>>
  %s = scan %v {combine = add, axis = 0)" + attribute + R"(} : tile<2048xf32> -> tile<2048xf32>
  %yp = splat %y : ptr<f32> -> tile<2048xptr<f32>>
  %yq = addptr %yp, %i : tile<2048xptr<f32>>, tile<2048xi32>
  store %yq, %s : tile<2048xptr<f32>>
)");
    std::vector<float> x = ramp(2048), expected = x;  // sums of small integers: exact
    if (reverse)
      std::partial_sum(x.rbegin(), x.rend(), expected.rbegin());
    else
      std::partial_sum(x.begin(), x.end(), expected.begin());
    each_schedule(
        text, {Array::of(x), Array::of(std::vector<float>(2048))}, {},
        [&](const std::vector<Array>& arrays) { EXPECT_EQ(arrays[1].as<float>(), expected); });
  }
}

std::string dot_body(const std::string& type, const std::string& accumulator) {
  return R"(
  %c32 = constant 32 : i32
  %c16 = constant 16 : i32
  %c1 = constant 1 : i32
  %c0 = constant 0 : i32
  %da = make_descriptor %a, %c32, %c16, %c16, %c1 : desc<32x16x)" +
         type + R"(>
  %db = make_descriptor %b, %c16, %c32, %c32, %c1 : desc<16x32x)" +
         type + R"(>
  %dc = make_descriptor %c, %c32, %c32, %c32, %c1 : desc<32x32x)" +
         accumulator + R"(>
  %ta = descriptor_load %da, %c0, %c0 : tile<32x16x)" +
         type + R"(>
  %tb = descriptor_load %db, %c0, %c0 : tile<16x32x)" +
         type + R"(>
  %z = constant 0)" +
         (accumulator == "f32" ? ".0" : "") + R"( : tile<32x32x)" + accumulator + R"(>
  %d = dot %ta, %tb, %z : tile<32x16x)" +
         type + ">, tile<16x32x" + type + ">, tile<32x32x" + accumulator + "> -> tile<32x32x" +
         accumulator + R"(>
  descriptor_store %dc, %d, %c0, %c0 : desc<32x32x)" +
         accumulator + ">, tile<32x32x" + accumulator + R"(>
)";
}

template <typename T, typename Accumulator>
std::vector<Accumulator> product(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<Accumulator> c(32 * 32);
  for (size_t i = 0; i < 32; ++i)
    for (size_t j = 0; j < 32; ++j)
      for (size_t k = 0; k < 16; ++k)
        c[i * 32 + j] +=
            static_cast<Accumulator>(a[i * 16 + k]) * static_cast<Accumulator>(b[k * 32 + j]);
  return c;
}

TEST_P(LoweredKernels, multiplies_floats_by_fragments) {
  std::string text =
      kernel(GetParam(), "%a: ptr<f32>, %b: ptr<f32>, %c: ptr<f32>", dot_body("f32", "f32"));
  std::vector<float> a = ramp(512), b = ramp(512);
  std::reverse(b.begin(), b.end());
  each_schedule(text, {Array::of(a), Array::of(b), Array::of(std::vector<float>(1024))}, {},
                [&](const std::vector<Array>& arrays) {
                  EXPECT_EQ(arrays[2].as<float>(), (product<float, float>(a, b)));
                });
}

TEST_P(LoweredKernels, multiplies_bytes_exactly) {
  std::string text =
      kernel(GetParam(), "%a: ptr<i8>, %b: ptr<i8>, %c: ptr<i32>", dot_body("i8", "i32"));
  std::vector<int8_t> a(512), b(512);
  for (size_t i = 0; i < 512; ++i) {
    a[i] = static_cast<int8_t>(i * 7);
    b[i] = static_cast<int8_t>(i * 5 + 3);
  }
  each_schedule(text, {Array::of(a), Array::of(b), Array::of(std::vector<int32_t>(1024))}, {},
                [&](const std::vector<Array>& arrays) {
                  EXPECT_EQ(arrays[2].as<int32_t>(), (product<int8_t, int32_t>(a, b)));
                });
}

TEST_P(LoweredKernels, atomics_happen_once_an_element) {
  // 8 elements over 32 lanes and more: copies must not add again.
  std::string text = kernel(GetParam(), "%x: ptr<i32>, %y: ptr<i32>", R"(
  %i = arange {start = 0} : tile<8xi32>
  %p = splat %x : ptr<i32> -> tile<8xptr<i32>>
  %q = addptr %p, %i : tile<8xptr<i32>>, tile<8xi32>
  %one = constant 1 : tile<8xi32>
  %old = atomic_rmw %q, %one {atomic = add} : tile<8xptr<i32>>
  %sum = reduce %old {combine = add, axis = 0} : tile<8xi32> -> i32
  store %y, %sum : ptr<i32>
)");
  each_schedule(
      text,
      {Array::of(std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}), Array::of(std::vector<int32_t>(1))},
      {}, [&](const std::vector<Array>& arrays) {
        EXPECT_EQ(arrays[0].as<int32_t>(), (std::vector<int32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
        EXPECT_EQ(arrays[1].as<int32_t>()[0], 28);
      });
}

INSTANTIATE_TEST_SUITE_P(Warps, LoweredKernels, testing::Values(1, 4, 8));

}  // namespace
}  // namespace enceladus::metal
