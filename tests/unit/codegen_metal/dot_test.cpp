// Matrix products: what the text holds and what it may not, and the numbers under the simulator,
// with blocks inside their arrays and across their edges.
#include <cmath>

#include "ir/builder.h"
#include "metal_kernels.h"

namespace enceladus::metal {
namespace {

// The seed page's matmul in blocks of 32 x 32 x 16; with `transposed` B is stored as [N, K].
std::string matmul(const std::string& options = "", bool transposed = false) {
  std::string b = transposed ? R"(
  %db = make_descriptor %b, %n, %k, %k, %one : desc<32x16xf32>)"
                             : R"(
  %db = make_descriptor %b, %k, %n, %n, %one : desc<16x32xf32>)";
  std::string load_b = transposed ? R"(
    %tt = descriptor_load %db, %col, %i : tile<32x16xf32>
    %tb = transpose %tt {permutation = [1, 0]} : tile<32x16xf32> -> tile<16x32xf32>)"
                                  : R"(
    %tb = descriptor_load %db, %i, %col : tile<16x32xf32>)";
  return kernel(4,
                "%a: ptr<f32> {aligned_16}, %b: ptr<f32> {aligned_16}, %c: ptr<f32> {aligned_16}, "
                "%m: i32, %n: i32, %k: i32",
                R"(
  %one = constant 1 : i32
  %zero = constant 0 : i32
  %bm = constant 32 : i32
  %bk = constant 16 : i32
  %pn = program_id {axis = 0} : i32
  %pm = program_id {axis = 1} : i32
  %row = mul %pm, %bm : i32
  %col = mul %pn, %bm : i32
  %da = make_descriptor %a, %m, %k, %k, %one : desc<32x16xf32>)" +
                    b + R"(
  %dc = make_descriptor %c, %m, %n, %n, %one : desc<32x32xf32>
  %zeros = constant 0.0 : tile<32x32xf32>
  %acc = for %i = %zero to %k step %bk carry (%sum = %zeros) : (tile<32x32xf32>) {
    %ta = descriptor_load %da, %row, %i : tile<32x16xf32>)" +
                    load_b + R"(
    %next = dot %ta, %tb, %sum : tile<32x16xf32>, tile<16x32xf32>, tile<32x32xf32> -> tile<32x32xf32>
    yield %next
  }
  descriptor_store %dc, %acc, %row, %col : desc<32x32xf32>, tile<32x32xf32>
)",
                options);
}

TEST(DotText, direct_operands_need_no_shared_memory_and_no_barrier) {
  for (bool transposed : {false, true}) {
    std::string text = msl_of(matmul("", transposed));
    EXPECT_FALSE(contains(text, "threadgroup uchar")) << text;
    EXPECT_FALSE(contains(text, "barrier(")) << text;
    EXPECT_TRUE(contains(text, "simdgroup_multiply_accumulate")) << text;
  }
}

struct Problem {
  int m, n, k;
};

void check_matmul(const std::string& options, bool transposed, Problem size) {
  auto [m, n, k] = size;
  auto count = [](int rows, int columns) { return static_cast<size_t>(rows * columns); };
  std::vector<float> a = ramp(count(m, k)), b = ramp(count(k, n)), right(count(m, n));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l)
        right[count(i, n) + static_cast<size_t>(j)] +=
            a[static_cast<size_t>(i * k + l)] *
            b[static_cast<size_t>(transposed ? j * k + l : l * n + j)];
  auto blocks = [](int extent) { return static_cast<uint32_t>((extent + 31) / 32); };
  each_schedule(matmul(options, transposed),
                {Array::of(a), Array::of(b), Array::of(std::vector<float>(count(m, n))),
                 Array::scalars({m, n, k})},
                {blocks(n), blocks(m)}, [&](const std::vector<Array>& arrays) {
                  EXPECT_EQ(arrays[2].as<float>(), right);  // integers: exact
                });
}

TEST(DotRun, blocks_inside_and_across_edges) {
  check_matmul("", false, {64, 32, 32});
  check_matmul("", false, {40, 37, 27});
  check_matmul("", true, {40, 37, 27});
}

TEST(DotRun, every_grid_of_warps) {
  for (const char* grid : {"4 by 1", "2 by 2", "1 by 4"})
    check_matmul(std::string(", dot_warps = ") + grid, false, {33, 32, 20});
}

TEST(DotRun, a_grid_of_warps_that_does_not_fit_is_an_error) {
  std::string text = matmul(", dot_warps = 8 by 1");
  text.replace(text.find("num_warps = 4"), 13, "num_warps = 8");
  try {
    compiled(text);
    FAIL() << "no error";
  } catch (const CompilationFailure& failure) {
    EXPECT_TRUE(contains(failure.what(),
                         "`dot_warps=(8, 1)` gives a warp less than 8x8 of a 32x32 product"))
        << failure.what();
  }
}

// Flash attention without its masks: scores of 32 queries and 32 keys, softmax over all keys.
std::string attention(const std::string& options) {
  return kernel(4,
                "%q: ptr<f16> {aligned_16}, %k: ptr<f16> {aligned_16}, %v: ptr<f16> {aligned_16}, "
                "%o: ptr<f16> {aligned_16}, %n: i32",
                R"(
  %one = constant 1 : i32
  %zero = constant 0 : i32
  %d = constant 16 : i32
  %bn = constant 32 : i32
  %dq = make_descriptor %q, %n, %d, %d, %one : desc<32x16xf16>
  %dk = make_descriptor %k, %n, %d, %d, %one : desc<32x16xf16>
  %dv = make_descriptor %v, %n, %d, %d, %one : desc<32x16xf16>
  %do = make_descriptor %o, %n, %d, %d, %one : desc<32x16xf16>
  %pid = program_id {axis = 0} : i32
  %row = mul %pid, %bn : i32
  %tq = descriptor_load %dq, %row, %zero : tile<32x16xf16>
  %m0 = constant -1e30 : tile<32xf32>
  %l0 = constant 0.0 : tile<32xf32>
  %a0 = constant 0.0 : tile<32x16xf32>
  %s0 = constant 0.0 : tile<32x32xf32>
  %mo, %lo, %ao = for %i = %zero to %n step %bn carry (%m = %m0, %l = %l0, %a = %a0) : (tile<32xf32>, tile<32xf32>, tile<32x16xf32>) {
    %tk = descriptor_load %dk, %i, %zero : tile<32x16xf16>
    %kt = transpose %tk {permutation = [1, 0]} : tile<32x16xf16> -> tile<16x32xf16>
    %s = dot %tq, %kt, %s0 : tile<32x16xf16>, tile<16x32xf16>, tile<32x32xf32> -> tile<32x32xf32>
    %most = reduce %s {combine = max, axis = 1} : tile<32x32xf32> -> tile<32xf32>
    %m1 = max %m, %most : tile<32xf32>
    %m1c = expand_dims %m1 {axis = 1} : tile<32xf32> -> tile<32x1xf32>
    %m1w = broadcast %m1c : tile<32x1xf32> -> tile<32x32xf32>
    %off = sub %s, %m1w : tile<32x32xf32>
    %p = exp2 %off : tile<32x32xf32>
    %back = sub %m, %m1 : tile<32xf32>
    %alpha = exp2 %back : tile<32xf32>
    %sum = reduce %p {combine = add, axis = 1} : tile<32x32xf32> -> tile<32xf32>
    %la = mul %l, %alpha : tile<32xf32>
    %l1 = add %la, %sum : tile<32xf32>
    %ac = expand_dims %alpha {axis = 1} : tile<32xf32> -> tile<32x1xf32>
    %aw = broadcast %ac : tile<32x1xf32> -> tile<32x16xf32>
    %as = mul %a, %aw : tile<32x16xf32>
    %tv = descriptor_load %dv, %i, %zero : tile<32x16xf16>
    %ph = cast %p : tile<32x32xf32> -> tile<32x32xf16>
    %a1 = dot %ph, %tv, %as : tile<32x32xf16>, tile<32x16xf16>, tile<32x16xf32> -> tile<32x16xf32>
    yield %m1, %l1, %a1
  }
  %lc = expand_dims %lo {axis = 1} : tile<32xf32> -> tile<32x1xf32>
  %lw = broadcast %lc : tile<32x1xf32> -> tile<32x16xf32>
  %r = div %ao, %lw : tile<32x16xf32>
  %rh = cast %r : tile<32x16xf32> -> tile<32x16xf16>
  descriptor_store %do, %rh, %row, %zero : desc<32x16xf16>, tile<32x16xf16>
)",
                options);
}

TEST(DotText, attention_keeps_its_scores_in_registers) {
  std::string text = msl_of(attention(", dot_warps = 4 by 1"));
  EXPECT_FALSE(contains(text, "threadgroup uchar")) << text;
  EXPECT_FALSE(contains(text, "barrier(")) << text;
  EXPECT_TRUE(contains(text, "simd_shuffle_xor")) << text;  // rows reduced inside a warp
}

TEST(DotText, mpp_multiplies_the_loop_by_one_matmul2d) {
  std::string text = msl_of(matmul(", dot_backend = mpp"));
  EXPECT_EQ(count_of(text, "matmul2d<"), 1u) << text;
  EXPECT_FALSE(contains(text, "simdgroup_multiply_accumulate")) << text;
  EXPECT_EQ(compiled(matmul(", dot_backend = mpp")).language_version, 40);
}

TEST(DotText, auto_takes_mpp_from_the_family_with_neural_accelerators_on) {
  std::unique_ptr<ir::Function> tile = ir::parse(matmul());
  transforms::optimize(*tile);
  EXPECT_FALSE(contains(compile_metal(*tile, {.gpu_family = 9}).stages.back().second, "matmul2d"));
  EXPECT_TRUE(contains(compile_metal(*tile, {.gpu_family = 10}).stages.back().second, "matmul2d"));
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Each kernel breaks one condition of `mpp`, falls back to simdgroup and says why.
TEST(DotText, mpp_falls_back_with_a_reason) {
  std::string good = matmul(", dot_backend = mpp");
  struct Broken {
    std::string text, reason;
  };
  std::string stored =
      "  descriptor_store %dc, %acc, %row, %col : desc<32x32xf32>, tile<32x32xf32>\n";
  std::vector<Broken> all = {
      {replaced(good, "constant 0.0 : tile", "constant 1.0 : tile"), "start from `tl.zeros`"},
      {replaced(good, "    yield %next",
                "    %more = add %next, %next : tile<32x32xf32>\n    yield %more"),
       "not updated only by `acc = tl.dot(a, b, acc)`"},
      {replaced(good, "    %next = dot %ta",
                "    %a2 = add %ta, %ta : tile<32x16xf32>\n    %next = dot %a2"),
       "`a` is not a descriptor load"},
      {replaced(replaced(good, "    %ta = desc",
                         "    %dl = make_descriptor %a, %m, %i, %k, %one : desc<32x16xf32>\n"
                         "    %ta = desc"),
                "descriptor_load %da", "descriptor_load %dl"),
       "the descriptor of `a` is made in the loop"},
      {replaced(good, "32x", "8x"), "16 to 128"},
      {replaced(good, "num_warps = 4", "num_warps = 16"), "at most 8 warps"},
      {replaced(good, ", arrays_small", ""), "2^31 elements"},
      {replaced(good, "%da = make_descriptor %a, %m, %k, %k, %one :",
                "%da = make_descriptor %a, %m, %k, %k, %one {padding = nan} :"),
       "pads with NaN"},
      {replaced(good, "descriptor_load %da, %row", "descriptor_load %da, %m"), "may be negative"},
      {replaced(good, "    %next = dot", "    store %a, %f : ptr<f32>\n    %next = dot"),
       "stored between the load of `a`"},
      {replaced(good, stored, stored + stored), "single descriptor store"},
      {replaced(good, stored,
                "  %s = reduce %acc {combine = add, axis = 1} : tile<32x32xf32> -> tile<32xf32>\n"
                "  %s1 = expand_dims %s {axis = 1} : tile<32xf32> -> tile<32x1xf32>\n"
                "  %s2 = broadcast %s1 : tile<32x1xf32> -> tile<32x32xf32>\n" +
                    replaced(stored, "%acc", "%s2")),
       "single descriptor store"},
      {replaced(replaced(replaced(good, "ptr<f32> {aligned_16}, %b: ptr<f32>",
                                  "ptr<f16> {aligned_16}, %b: ptr<f32>"),
                         "32x16xf32", "32x16xf16"),
                "%f = constant 1.0 : f32\n", ""),
       "does not multiply float16 with float32"},
  };
  for (const Broken& broken : all) {
    std::string text = broken.text;
    if (contains(text, "%f :")) text.insert(text.find("  %zeros"), "  %f = constant 1.0 : f32\n");
    Artifact artifact = compiled(text);
    EXPECT_FALSE(contains(artifact.stages.back().second, "matmul2d")) << broken.reason;
    EXPECT_TRUE(contains(artifact.explain, broken.reason)) << broken.reason << artifact.explain;
  }
  std::unique_ptr<ir::Function> tile = ir::parse(good);
  transforms::optimize(*tile);
  Artifact artifact = compile_metal(*tile, {.has_matmul2d = false});
  EXPECT_TRUE(contains(artifact.explain, "this GPU or its system has no Metal 4"));
}

TEST(DotRun, mpp_inside_and_across_edges) {
  for (bool transposed : {false, true})
    for (Problem size : {Problem{64, 32, 32}, Problem{40, 37, 27}})
      check_matmul(", dot_backend = mpp", transposed, size);
}

uint16_t to_half(float value) {
  return static_cast<uint16_t>(ir::bits_of(DType::kFloat16, static_cast<double>(value)));
}
float from_half(uint16_t bits) {
  return static_cast<float>(ir::double_of_bits(DType::kFloat16, bits));
}

TEST(DotRun, attention_is_right_across_edges) {
  constexpr int kRows = 32, kHead = 16;  // all keys of a block: without a mask the rest would count
  std::vector<uint16_t> q(kRows * kHead), k(q.size()), v(q.size());
  for (size_t i = 0; i < q.size(); ++i) {
    q[i] = to_half(static_cast<float>(i % 7) / 8 - 0.375f);
    k[i] = to_half(static_cast<float>(i % 11) / 8 - 0.5f);
    v[i] = to_half(static_cast<float>(i % 13) / 4 - 1.5f);
  }
  for (const char* options : {"", ", dot_warps = 4 by 1", ", dot_warps = 2 by 2"})
    each_schedule(attention(options),
                  {Array::of(q), Array::of(k), Array::of(v),
                   Array::of(std::vector<uint16_t>(q.size())), Array::scalars({kRows})},
                  {1}, [&](const std::vector<Array>& arrays) {
                    std::vector<uint16_t> got = arrays[3].as<uint16_t>();
                    for (int i = 0; i < kRows; ++i) {
                      std::vector<float> scores(kRows);
                      float total = 0;
                      for (int j = 0; j < kRows; ++j) {
                        for (int l = 0; l < kHead; ++l)
                          scores[j] += from_half(q[i * kHead + l]) * from_half(k[j * kHead + l]);
                        scores[j] = std::exp2(scores[j]);
                        total += scores[j];
                      }
                      for (int l = 0; l < kHead; ++l) {
                        float right = 0;
                        for (int j = 0; j < kRows; ++j)
                          right += scores[j] / total * from_half(v[j * kHead + l]);
                        // The weights are rounded to float16: 2^-11 of the largest value.
                        EXPECT_NEAR(from_half(got[i * kHead + l]), right, 2e-3f);
                      }
                    }
                  });
}

}  // namespace
}  // namespace enceladus::metal
