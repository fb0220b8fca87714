// Blocks at the edges of their arrays, dots whose operands are read by pointers or converted, and
// the barriers of kernels that work in place: what the text holds, and the numbers under the
// simulator, whose race detector is strict about every barrier that is left out.
#include <cmath>
#include <regex>

#include "metal_kernels.h"

namespace enceladus::metal {
namespace {

// A tile of pointers `name`, `rows` x `columns`: base + row_tile * stride + column_tile, the row
// tile along axis 0.
std::string pointers(const std::string& name, const std::string& base, const std::string& stride,
                     const std::string& row_tile, int rows, const std::string& column_tile,
                     int columns) {
  std::string r = std::to_string(rows), c = std::to_string(columns);
  std::string high = "tile<" + r + "x1x", wide = "tile<1x" + c + "x", all = "tile<" + r + "x" + c;
  return "  %" + name + "r = expand_dims %" + row_tile + " {axis = 1} : tile<" + r + "xi32> -> " +
         high + "i32>\n  %" + name + "s = splat %" + stride + " : i32 -> " + high + "i32>\n  %" +
         name + "o = mul %" + name + "r, %" + name + "s : " + high + "i32>\n  %" + name +
         "b = splat %" + base + " : ptr<f32> -> " + high + "ptr<f32>>\n  %" + name +
         "p = addptr %" + name + "b, %" + name + "o : " + high + "ptr<f32>>, " + high +
         "i32>\n  %" + name + "w = broadcast %" + name + "p : " + high + "ptr<f32>> -> " + all +
         "xptr<f32>>\n  %" + name + "c = expand_dims %" + column_tile + " {axis = 0} : tile<" + c +
         "xi32> -> " + wide + "i32>\n  %" + name + "d = broadcast %" + name + "c : " + wide +
         "i32> -> " + all + "xi32>\n  %" + name + " = addptr %" + name + "w, %" + name +
         "d : " + all + "xptr<f32>>, " + all + "xi32>\n";
}

// A mask `name` for the same tile: rows below one scalar and columns below another.
std::string mask(const std::string& name, const std::string& tile, const std::string& row_end,
                 int rows, const std::string& column_end, int columns) {
  std::string r = std::to_string(rows), c = std::to_string(columns);
  std::string high = "tile<" + r + "x1x", wide = "tile<1x" + c + "x", all = "tile<" + r + "x" + c;
  return "  %" + name + "a = splat %" + row_end + " : i32 -> " + high + "i32>\n  %" + name +
         "b = lt %" + tile + "r, %" + name + "a : " + high + "i32>\n  %" + name +
         "c = broadcast %" + name + "b : " + high + "i1> -> " + all + "xi1>\n  %" + name +
         "d = splat %" + column_end + " : i32 -> " + wide + "i32>\n  %" + name + "e = lt %" + tile +
         "c, %" + name + "d : " + wide + "i32>\n  %" + name + "f = broadcast %" + name +
         "e : " + wide + "i1> -> " + all + "xi1>\n  %" + name + " = and %" + name + "c, %" + name +
         "f : " + all + "xi1>\n";
}

constexpr const char* kMatrices =
    "%a: ptr<f32> {aligned_16}, %b: ptr<f32> {aligned_16}, %c: ptr<f32> {aligned_16}, "
    "%m: i32, %n: i32, %k: i32";

constexpr const char* kPlaces = R"(
  %zero = constant 0 : i32
  %one = constant 1 : i32
  %bm = constant 32 : i32
  %bk = constant 16 : i32
  %pn = program_id {axis = 0} : i32
  %pm = program_id {axis = 1} : i32
  %row = mul %pm, %bm : i32
  %col = mul %pn, %bm : i32
  %i = arange {start = 0} : tile<32xi32>
  %depths = arange {start = 0} : tile<16xi32>
  %rowt = splat %row : i32 -> tile<32xi32>
  %colt = splat %col : i32 -> tile<32xi32>
  %rows = add %i, %rowt : tile<32xi32>
  %cols = add %i, %colt : tile<32xi32>
  %zeros = constant 0.0 : tile<32x32xf32>
)";

// A product in blocks of 32 x 32 x 16 as Triton's tutorial has it: tiles of pointers that advance,
// masks at every edge.
std::string pointer_matmul() {
  std::string body = kPlaces;
  body += pointers("pa", "a", "k", "rows", 32, "depths", 16);
  body += pointers("pb", "b", "n", "depths", 16, "cols", 32);
  body += pointers("pc", "c", "n", "rows", 32, "cols", 32);
  body += R"(
  %step = mul %bk, %n : i32
  %stepa = splat %bk : i32 -> tile<32x16xi32>
  %stepb = splat %step : i32 -> tile<16x32xi32>
  %acc, %la, %lb = for %at = %zero to %k step %bk carry (%sum = %zeros, %xa = %pa, %xb = %pb) : (tile<32x32xf32>, tile<32x16xptr<f32>>, tile<16x32xptr<f32>>) {
    %left = sub %k, %at : i32
)" + mask("ma", "pa", "m", 32, "left", 16) +
          mask("mb", "pb", "left", 16, "n", 32) + R"(
    %ta = load %xa, mask = %ma : tile<32x16xptr<f32>>
    %tb = load %xb, mask = %mb : tile<16x32xptr<f32>>
    %next = dot %ta, %tb, %sum : tile<32x16xf32>, tile<16x32xf32>, tile<32x32xf32> -> tile<32x32xf32>
    %na = addptr %xa, %stepa : tile<32x16xptr<f32>>, tile<32x16xi32>
    %nb = addptr %xb, %stepb : tile<16x32xptr<f32>>, tile<16x32xi32>
    yield %next, %na, %nb
  }
)" + mask("mc", "pc", "m", 32, "n", 32) +
          "  store %pc, %acc, mask = %mc : tile<32x32xptr<f32>>\n";
  return kernel(4, kMatrices, body);
}

// The same by descriptors whose float32 elements are rounded to float16 before the product.
std::string rounded_matmul() {
  return kernel(4, kMatrices, std::string(kPlaces) + R"(
  %da = make_descriptor %a, %m, %k, %k, %one : desc<32x16xf32>
  %db = make_descriptor %b, %k, %n, %n, %one : desc<16x32xf32>
  %dc = make_descriptor %c, %m, %n, %n, %one : desc<32x32xf32>
  %acc = for %at = %zero to %k step %bk carry (%sum = %zeros) : (tile<32x32xf32>) {
    %ta = descriptor_load %da, %row, %at : tile<32x16xf32>
    %tb = descriptor_load %db, %at, %col : tile<16x32xf32>
    %ha = cast %ta : tile<32x16xf32> -> tile<32x16xf16>
    %hb = cast %tb : tile<16x32xf32> -> tile<16x32xf16>
    %next = dot %ha, %hb, %sum : tile<32x16xf16>, tile<16x32xf16>, tile<32x32xf32> -> tile<32x32xf32>
    yield %next
  }
  descriptor_store %dc, %acc, %row, %col : desc<32x32xf32>, tile<32x32xf32>
)");
}

void check_product(const std::string& text, int m, int n, int k) {
  auto count = [](int rows, int columns) { return static_cast<size_t>(rows * columns); };
  std::vector<float> a = ramp(count(m, k)), b = ramp(count(k, n)), right(count(m, n));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l)
        right[static_cast<size_t>(i * n + j)] +=
            a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(l * n + j)];
  auto blocks = [](int extent) { return static_cast<uint32_t>((extent + 31) / 32); };
  each_schedule(text,
                {Array::of(a), Array::of(b), Array::of(std::vector<float>(count(m, n))),
                 Array::scalars({m, n, k})},
                {blocks(n), blocks(m)}, [&](const std::vector<Array>& arrays) {
                  EXPECT_EQ(arrays[2].as<float>(), right);  // small integers: exact
                });
}

TEST(EdgeText, operands_by_pointers_are_direct) {
  Artifact artifact = compiled(pointer_matmul());
  const std::string& text = artifact.stages.back().second;
  EXPECT_FALSE(contains(text, "threadgroup uchar")) << text;
  EXPECT_FALSE(contains(text, "barrier(")) << text;
  EXPECT_FALSE(contains(text, "simd_shuffle")) << text;
  EXPECT_TRUE(contains(artifact.explain, R"("a": "direct", "b": "direct")")) << artifact.explain;
}

TEST(EdgeText, operands_that_are_converted_are_direct) {
  std::string text = msl_of(rounded_matmul());
  EXPECT_FALSE(contains(text, "threadgroup uchar")) << text;
  EXPECT_FALSE(contains(text, "barrier(")) << text;
  EXPECT_TRUE(contains(text, "half")) << text;
}

// Both operands and the result, whose fragments each ask; A has one fragment a warp and step.
TEST(EdgeText, only_fragments_that_straddle_an_edge_are_masked) {
  for (const std::string& kernel : {pointer_matmul(), rounded_matmul()}) {
    std::string text = msl_of(kernel);
    EXPECT_EQ(count_of(text, "[(r / 2)]) {"), 2u) << text;
    std::regex unmasked(R"(if \(\w+\) \{\n +\w+\[0\] = \*)");
    EXPECT_TRUE(std::regex_search(text, unmasked)) << text;
  }
}

TEST(EdgeRun, products_are_right_inside_and_across_edges) {
  for (const std::string& kernel : {pointer_matmul(), rounded_matmul()}) {
    check_product(kernel, 64, 32, 32);
    check_product(kernel, 40, 37, 27);
    check_product(kernel, 33, 70, 9);
  }
}

// Rows of a matrix with a stride that the launch gives, each element replaced by its double; only
// the first `written` rows are stored.
std::string in_place(const std::string& row_stride) {
  std::string body = R"(
  %rows = arange {start = 0} : tile<16xi32>
  %cols = arange {start = 0} : tile<64xi32>
)" + pointers("p", "x", row_stride, "rows", 16, "cols", 64) +
                     mask("ml", "p", "m", 16, "n", 64) + mask("ms", "p", "written", 16, "n", 64) +
                     R"(
  %v = load %p, mask = %ml : tile<16x64xptr<f32>>
  %d = add %v, %v : tile<16x64xf32>
  store %p, %d, mask = %ms : tile<16x64xptr<f32>>
)";
  return kernel(4, "%x: ptr<f32> {aligned_16}, %m: i32, %n: i32, %stride: i32, %written: i32",
                body);
}

TEST(InPlaceText, rows_as_long_as_the_mask_says_need_no_barrier) {
  std::string text = msl_of(in_place("n"));
  EXPECT_FALSE(contains(text, "barrier(")) << text;
}

TEST(InPlaceText, a_stride_of_the_launch_decides_about_the_barrier) {
  std::string text = msl_of(in_place("stride"));
  EXPECT_EQ(count_of(text, "barrier("), 1u) << text;
  size_t barrier = text.find("threadgroup_barrier(");
  ASSERT_NE(barrier, std::string::npos) << text;
  EXPECT_EQ(text.substr(text.rfind('\n', barrier) + 1, 8), "  if (!v") << text;
}

// With rows that overlap a thread stores what another one loads: the simulator would report it.
TEST(InPlaceRun, rows_apart_and_rows_that_overlap) {
  constexpr int kRows = 16, kColumns = 33;
  for (int stride : {40, 33, 5, 0}) {
    bool apart = stride >= kColumns;
    int written = apart ? kRows : 1;
    std::vector<float> x = ramp(static_cast<size_t>(stride * (kRows - 1) + kColumns)), right = x;
    for (int i = 0; i < written; ++i)
      for (int j = 0; j < kColumns; ++j) right[static_cast<size_t>(i * stride + j)] *= 2;
    each_schedule(in_place("stride"),
                  {Array::of(x), Array::scalars({kRows, kColumns, stride, written})}, {1},
                  [&](const std::vector<Array>& arrays) {
                    EXPECT_EQ(arrays[0].as<float>(), right) << stride;
                  });
  }
}

// The same through a descriptor whose rows are as far apart as its width or as `stride` says.
std::string block_in_place(const std::string& row_stride) {
  return kernel(4, "%x: ptr<f32> {aligned_16}, %m: i32, %n: i32, %stride: i32", R"(
  %one = constant 1 : i32
  %zero = constant 0 : i32
  %dx = make_descriptor %x, %m, %n, %)" + row_stride + R"(, %one : desc<16x64xf32>
  %v = descriptor_load %dx, %zero, %zero : tile<16x64xf32>
  %d = add %v, %v : tile<16x64xf32>
  descriptor_store %dx, %d, %zero, %zero : desc<16x64xf32>, tile<16x64xf32>
)");
}

TEST(InPlaceText, blocks_of_whole_rows_need_no_barrier) {
  EXPECT_FALSE(contains(msl_of(block_in_place("n")), "barrier("));
  EXPECT_EQ(count_of(msl_of(block_in_place("stride")), "if (!v"), 1u)
      << msl_of(block_in_place("stride"));
}

TEST(InPlaceRun, blocks_of_whole_rows) {
  std::vector<float> x = ramp(16 * 33), right = x;
  for (float& value : right) value *= 2;
  for (const char* stride : {"n", "stride"})
    each_schedule(
        block_in_place(stride), {Array::of(x), Array::scalars({16, 33, 33})}, {1},
        [&](const std::vector<Array>& arrays) { EXPECT_EQ(arrays[0].as<float>(), right); });
}

}  // namespace
}  // namespace enceladus::metal
