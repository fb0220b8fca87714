// The text of kernels on Hopper's asynchronous units, and what the launch gets with it.
#include <gtest/gtest.h>

#include "codegen/cuda/compile_cuda.h"
#include "ir/parser.h"

namespace enceladus::cuda {
namespace {

constexpr const char* kMatmul =
    R"(kernel @matmul(%a: ptr<f16> {aligned_16}, %b: ptr<f16> {aligned_16}, %c: ptr<f32> {aligned_16}, %M: i32 {divisible_by_16}, %N: i32 {divisible_by_16}, %K: i32 {divisible_by_16}) {num_warps = 8, math_mode = relaxed, arrays_disjoint} {
  %pn = program_id {axis = 0} : i32
  %pm = program_id {axis = 1} : i32
  %batch = program_id {axis = 2} : i32
  %one = constant 1 : i32
  %zero = constant 0 : i32
  %depth = constant 64 : i32
  %tile = constant 128 : i32
  %m = mul %pm, %tile : i32
  %n = mul %pn, %tile : i32
  %b64 = cast %batch : i32 -> i64
  %m64 = cast %M : i32 -> i64
  %k64 = cast %K : i32 -> i64
  %size = mul %m64, %k64 : i64
  %offset = mul %b64, %size : i64
  %base = addptr %a, %offset : ptr<f16>, i64
  %da = make_descriptor %base, %M, %K, %K, %one : desc<128x64xf16>
  %db = make_descriptor %b, %N, %K, %K, %one : desc<128x64xf16>
  %dc = make_descriptor %c, %M, %N, %N, %one : desc<128x128xf32>
  %sum = constant 0.0 : tile<128x128xf32>
  %r = for %k = %zero to %K step %depth carry (%acc = %sum) : (tile<128x128xf32>) {
    %x = descriptor_load %da, %m, %k : tile<128x64xf16>
    %y = descriptor_load %db, %n, %k : tile<128x64xf16>
    %t = transpose %y {permutation = [1, 0]} : tile<128x64xf16> -> tile<64x128xf16>
    %next = dot %x, %t, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32> -> tile<128x128xf32>
    yield %next
  }
  descriptor_store %dc, %r, %m, %n : desc<128x128xf32>, tile<128x128xf32>
}
)";

Artifact compiled(const std::string& text) {
  std::unique_ptr<ir::Function> function = ir::parse(text);
  return compile_cuda(*function, {});
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST(AsyncText, floats_of_8_bits_are_multiplied_as_such) {
  std::string kernel = replaced(kMatmul, "f16", "f8e4m3");
  std::string text = compiled(kernel).stages.back().second;
  EXPECT_EQ(count(text, "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3"), 1) << text;
  // Of two types, here those of b's array and what is made of it.
  for (const char* part : {"%b: ptr<f8e4m3>",
                           "%db = make_descriptor %b, %N, %K, %K, %one : "
                           "desc<128x64xf8e4m3>",
                           "%y = descriptor_load %db, %n, %k : "
                           "tile<128x64xf8e4m3>",
                           "%y {permutation = [1, 0]} : "
                           "tile<128x64xf8e4m3> -> tile<64x128xf8e4m3>",
                           "tile<64x128xf8e4m3>, "})
    kernel = replaced(kernel, part, replaced(part, "e4m3", "e5m2"));
  text = compiled(kernel).stages.back().second;
  EXPECT_EQ(count(text, "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e5m2"), 1) << text;
}

TEST(AsyncText, exact_sums_of_8_bit_floats_are_left_to_single_warps) {
  std::string kernel = replaced(kMatmul, "f16", "f8e5m2");
  kernel = replaced(kernel, "%t, %acc :", "%t, %acc {max_num_imprecise_acc = 0} :");
  Artifact artifact = compiled(kernel);
  const std::string& text = artifact.stages.back().second;
  EXPECT_EQ(count(text, "wgmma"), 0) << text;
  EXPECT_EQ(count(text, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32"), 1) << text;
  // Devices before sm_89 multiply float16 instead.
  EXPECT_EQ(count(text, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), 2) << text;
}

TEST(AsyncText, a_matmul_has_a_producer_and_its_launch_the_maps) {
  Artifact artifact = compiled(kMatmul);
  const std::string& text = artifact.stages.back().second;
  EXPECT_EQ(artifact.threads, 384);
  EXPECT_TRUE(artifact.is_persistent);
  ASSERT_EQ(artifact.tensor_maps.size(), 3u);
  // Two groups of 64 rows, to which the producer leaves registers.
  EXPECT_EQ(count(text, "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16"), 1) << text;
  EXPECT_EQ(count(text, "enc_set_registers<"), 2);
  // A box an operand, at three coordinates where the batch is an axis of its own.
  EXPECT_EQ(count(text, "enc_copy_in_3(&"), 1);
  EXPECT_EQ(count(text, "enc_copy_in_2(&"), 1);
  EXPECT_EQ(count(text, "enc_copy_out_2(&"), 4);
}

// Statements of more operands take the compiler cubic time.
TEST(AsyncText, a_running_sum_is_named_in_the_assembler_and_no_operand) {
  std::string text = compiled(kMatmul).stages.back().second;
  EXPECT_EQ(count(text, ".reg .f32 %sums_<64>;"), 1) << text;
  EXPECT_EQ(count(text, "\"+f\""), 0);
  // Nothing is moved in: the first product ignores the sum.
  EXPECT_EQ(count(text, "enc_move_in"), 0);
  EXPECT_EQ(count(text, "enc_move_out_sums("), 2) << "its definition and one call";
}

TEST(AsyncText, a_loop_without_turns_leaves_the_zeros_of_the_kernels_start) {
  std::string text = compiled(kMatmul).stages.back().second;
  size_t cleared = text.rfind("enc_clear_sums();");
  ASSERT_NE(cleared, std::string::npos);
  EXPECT_LT(cleared, text.find("enc_barrier_init(", text.find("matmul(")));
  // Where some programs have turns and others none, zeros replace what the former left.
  std::string kernel = replaced(kMatmul, "%zero to %K", "%m to %K");
  text = compiled(kernel).stages.back().second;
  EXPECT_EQ(count(text, ") enc_clear_sums();"), 1) << text;
}

TEST(AsyncText, a_sum_that_does_not_start_at_zero_is_moved_in_before_its_loop) {
  std::string kernel = replaced(kMatmul, "constant 0.0", "constant 1.0");
  std::string text = compiled(kernel).stages.back().second;
  EXPECT_EQ(count(text, "enc_clear_sums()"), 0);
  size_t moved = text.rfind("enc_move_in_sums("), loop = text.find("for (int k");
  ASSERT_NE(moved, std::string::npos) << text;
  EXPECT_LT(moved, text.find("enc_wgmma_begin();", loop));
  EXPECT_EQ(text.find("enc_wgmma_begin();", moved), text.rfind("enc_wgmma_begin();"));
}

TEST(AsyncText, the_batch_of_a_base_address_becomes_an_axis_of_its_map) {
  Artifact artifact = compiled(kMatmul);
  int with_batch = 0;
  for (const TensorMap& map : artifact.tensor_maps) {
    if (map.box.size() != 3) continue;
    ++with_batch;
    EXPECT_EQ(map.box, (std::vector<int32_t>{64, 128, 1}));
    EXPECT_EQ(map.strides.size(), 2u);
    EXPECT_EQ(map.swizzle, 3);
    EXPECT_EQ(map.element, 6);
  }
  EXPECT_EQ(with_batch, 1);
}

TEST(AsyncText, one_groups_epilogue_runs_beside_the_others_products) {
  std::string text = compiled(kMatmul).stages.back().second;
  EXPECT_EQ(count(text, "enc_named_arrival(4, 256);"), 1) << text;
  EXPECT_EQ(count(text, "enc_named_barrier(4, 256);"), 1) << text;
  EXPECT_EQ(count(text, "enc_named_barrier(1, 256);"), 1) << text;
}

TEST(AsyncText, a_bias_is_loaded_as_the_product_wants_it_and_no_groups_meet_for_it) {
  std::string kernel =
      replaced(kMatmul, "%c: ptr<f32>", "%bias: ptr<f16> {aligned_16}, %c: ptr<f32>");
  kernel = replaced(kernel, "  descriptor_store %dc, %r, %m, %n",
                    R"(  %range = arange {start = 0} : tile<128xi32>
  %first = splat %n : i32 -> tile<128xi32>
  %columns = add %first, %range : tile<128xi32>
  %pointer = splat %bias : ptr<f16> -> tile<128xptr<f16>>
  %at = addptr %pointer, %columns : tile<128xptr<f16>>, tile<128xi32>
  %narrow = load %at : tile<128xptr<f16>>
  %wide = cast %narrow : tile<128xf16> -> tile<128xf32>
  %row = expand_dims %wide {axis = 0} : tile<128xf32> -> tile<1x128xf32>
  %all = broadcast %row : tile<1x128xf32> -> tile<128x128xf32>
  %biased = add %r, %all : tile<128x128xf32>
  descriptor_store %dc, %biased, %m, %n)");
  std::string text = compiled(kernel).stages.back().second;
  // Only the loop of products has them wait for each other.
  EXPECT_EQ(count(text, "enc_named_barrier(1, 256);"), 1) << text;
  // 16 pairs of neighbouring columns a thread.
  EXPECT_EQ(count(text, "half narrow[32];"), 1) << text;
  EXPECT_EQ(count(text, "enc_load<2>(&narrow[r]"), 1) << text;
  // Before the wait for the product.
  EXPECT_LT(text.find("enc_load<2>(&narrow[r]"), text.find("enc_wgmma_wait<0>")) << text;
}

TEST(AsyncText, the_backend_that_a_user_names_is_kept) {
  std::string text = kMatmul;
  text.replace(text.find("arrays_disjoint}"), 16, "arrays_disjoint, dot_backend = mma}");
  Artifact artifact = compiled(text);
  EXPECT_TRUE(artifact.tensor_maps.empty());
  EXPECT_EQ(artifact.threads, 256);
}

}  // namespace
}  // namespace enceladus::cuda
