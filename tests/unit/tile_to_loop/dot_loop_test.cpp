#include "lowering/tile_to_loop/dot_loop.h"

#include <gtest/gtest.h>

#include "ir/parser.h"
#include "transforms/tile_passes.h"

namespace enceladus::loop {
namespace {

// The kernel's text with the first `from` replaced.
std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class DotLoopTest : public testing::Test {
 protected:
  const DotLoopMatch& match(const std::string& text) {
    function_ = ir::parse(text);
    transforms::optimize(*function_);
    facts_.emplace(*function_);
    forms_.emplace(*function_, analysis::AffineForms::Meaning::kExact);
    ir::Operation* loop = nullptr;
    ir::walk(function_->body(), [&](ir::Operation* op) {
      if (op->is(ir::Opcode::kFor)) loop = op;
    });
    match_ = match_dot_loop(loop, *forms_, *facts_);
    return match_;
  }

  std::unique_ptr<ir::Function> function_;
  std::optional<analysis::Facts> facts_;
  std::optional<analysis::AffineForms> forms_;
  DotLoopMatch match_;
};

const char* const kDescriptors =
    R"(kernel @matmul(%a: ptr<f32>, %b: ptr<f32>, %c: ptr<f32>, %M: i32, %N: i32, %K: i32) {num_warps = 4, math_mode = relaxed, arrays_small} {
  %one = constant 1 : i32
  %zero = constant 0 : i32
  %BK = constant 16 : i32
  %BM = constant 32 : i32
  %pid_n = program_id {axis = 0} : i32
  %pid_m = program_id {axis = 1} : i32
  %a_desc = make_descriptor %a, %M, %K, %K, %one : desc<32x16xf32>
  %b_desc = make_descriptor %b, %K, %N, %N, %one : desc<16x64xf32>
  %BN = constant 64 : i32
  %row = mul %pid_m, %BM : i32
  %column = mul %pid_n, %BN : i32
  %zeros = constant 0.0 : tile<32x64xf32>
  %acc = for %k = %zero to %K step %BK carry (%sum = %zeros) : (tile<32x64xf32>) {
    %x = descriptor_load %a_desc, %row, %k : tile<32x16xf32>
    %y = descriptor_load %b_desc, %k, %column : tile<16x64xf32>
    %next = dot %x, %y, %sum : tile<32x16xf32>, tile<16x64xf32>, tile<32x64xf32> -> tile<32x64xf32>
    yield %next
  }
  %c_desc = make_descriptor %c, %M, %N, %N, %one : desc<32x64xf32>
  descriptor_store %c_desc, %acc, %row, %column : desc<32x64xf32>, tile<32x64xf32>
}
)";

TEST_F(DotLoopTest, descriptor_loads_give_bases_strides_and_bounds) {
  const DotLoopMatch& found = match(kDescriptors);
  ASSERT_TRUE(found.plan) << found.reason;
  const DotLoop& plan = *found.plan;
  EXPECT_TRUE(plan.starts_at_zero);
  EXPECT_EQ(plan.rows, 32);
  EXPECT_EQ(plan.columns, 64);
  EXPECT_EQ(plan.depth_per_turn, 16);
  EXPECT_EQ(to_string(plan.a.base), "32*K*pid_m");
  EXPECT_EQ(to_string(plan.a.across_stride), "K");
  EXPECT_EQ(to_string(plan.a.depth_stride), "1");
  ASSERT_EQ(plan.a.across.below.size(), 1u);
  EXPECT_EQ(to_string(plan.a.across.below[0]), "M + -32*pid_m");
  ASSERT_EQ(plan.a.depth.below.size(), 1u);
  EXPECT_EQ(to_string(plan.a.depth.below[0]), "K");
  EXPECT_EQ(to_string(plan.b.base), "64*pid_n");
  EXPECT_EQ(to_string(plan.b.depth_stride), "N");
  EXPECT_EQ(to_string(plan.b.across.below[0]), "N + -64*pid_n");
  EXPECT_EQ(plan.b.depth, plan.a.depth);
  EXPECT_TRUE(plan.a.across.from.empty()) << "program ids are never negative";
}

TEST_F(DotLoopTest, transposed_loads_change_places) {
  std::string text = with(kDescriptors, "desc<16x64xf32>", "desc<64x16xf32>");
  text = with(text, "%b, %K, %N, %N, %one", "%b, %N, %K, %K, %one");
  text = with(text, "%b_desc, %k, %column : tile<16x64xf32>",
              "%b_desc, %column, %k : tile<64x16xf32>\n    %yt = transpose %y {permutation = [1, "
              "0]} : tile<64x16xf32> -> tile<16x64xf32>");
  const DotLoopMatch& found = match(with(text, "dot %x, %y,", "dot %x, %yt,"));
  ASSERT_TRUE(found.plan) << found.reason;
  EXPECT_EQ(to_string(found.plan->b.depth_stride), "1");
  EXPECT_EQ(to_string(found.plan->b.across_stride), "K");
  EXPECT_EQ(to_string(found.plan->b.base), "64*K*pid_n");
}

const char* const kPointers =
    R"(kernel @matmul(%a: ptr<i8>, %b: ptr<i8>, %c: ptr<i32>, %M: i32, %K: i32, %sm: i32) {num_warps = 4, math_mode = relaxed, arrays_small} {
  %zero = constant 0 : i32
  %one = constant 1 : i32
  %zeros = constant 0 : tile<8x16xi32>
  %r = arange {start = 0} : tile<8xi32>
  %r1 = expand_dims %r {axis = 1} : tile<8xi32> -> tile<8x1xi32>
  %rm = broadcast %r1 : tile<8x1xi32> -> tile<8x32xi32>
  %d = arange {start = 0} : tile<32xi32>
  %d0 = expand_dims %d {axis = 0} : tile<32xi32> -> tile<1x32xi32>
  %dk = broadcast %d0 : tile<1x32xi32> -> tile<8x32xi32>
  %sms = splat %sm : i32 -> tile<8x32xi32>
  %ro = mul %rm, %sms : tile<8x32xi32>
  %ao = add %ro, %dk : tile<8x32xi32>
  %as = splat %a : ptr<i8> -> tile<8x32xptr<i8>>
  %ap = addptr %as, %ao : tile<8x32xptr<i8>>, tile<8x32xi32>
  %bd1 = expand_dims %d {axis = 1} : tile<32xi32> -> tile<32x1xi32>
  %bd = broadcast %bd1 : tile<32x1xi32> -> tile<32x16xi32>
  %sixteen = constant 16 : tile<32x16xi32>
  %bo = mul %bd, %sixteen : tile<32x16xi32>
  %n = arange {start = 0} : tile<16xi32>
  %n0 = expand_dims %n {axis = 0} : tile<16xi32> -> tile<1x16xi32>
  %nn = broadcast %n0 : tile<1x16xi32> -> tile<32x16xi32>
  %bo2 = add %bo, %nn : tile<32x16xi32>
  %bs = splat %b : ptr<i8> -> tile<32x16xptr<i8>>
  %bp = addptr %bs, %bo2 : tile<32x16xptr<i8>>, tile<32x16xi32>
  %BK = constant 32 : i32
  %a_step = constant 32 : tile<8x32xi32>
  %b_step = constant 512 : tile<32x16xi32>
  %turns = div %K, %BK : i32
  %acc, %pa, %pb = for %k = %zero to %turns step %one carry (%sum = %zeros, %ac = %ap, %bc = %bp) : (tile<8x16xi32>, tile<8x32xptr<i8>>, tile<32x16xptr<i8>>) {
    %kk = mul %k, %BK : i32
    %left = sub %K, %kk : i32
    %lefts = splat %left : i32 -> tile<8x32xi32>
    %mask = lt %dk, %lefts : tile<8x32xi32>
    %x = load %ac, mask = %mask : tile<8x32xptr<i8>>
    %y = load %bc : tile<32x16xptr<i8>>
    %next = dot %x, %y, %sum : tile<8x32xi8>, tile<32x16xi8>, tile<8x16xi32> -> tile<8x16xi32>
    %an = addptr %ac, %a_step : tile<8x32xptr<i8>>, tile<8x32xi32>
    %bn = addptr %bc, %b_step : tile<32x16xptr<i8>>, tile<32x16xi32>
    yield %next, %an, %bn
  }
  %cp = splat %c : ptr<i32> -> tile<8x16xptr<i32>>
  store %cp, %acc : tile<8x16xptr<i32>>
}
)";

TEST_F(DotLoopTest, carried_pointers_and_moving_masks_are_followed) {
  const DotLoopMatch& found = match(kPointers);
  ASSERT_TRUE(found.plan) << found.reason;
  const DotLoop& plan = *found.plan;
  EXPECT_EQ(plan.a.dtype, DType::kInt8);
  EXPECT_EQ(to_string(plan.a.across_stride), "sm");
  EXPECT_EQ(to_string(plan.a.depth_stride), "1");
  ASSERT_EQ(plan.a.depth.below.size(), 1u);
  EXPECT_EQ(to_string(plan.a.depth.below[0]), "K");
  EXPECT_TRUE(plan.b.depth.below.empty());
  EXPECT_EQ(to_string(plan.b.depth_stride), "16");
  EXPECT_EQ(to_string(plan.b.across_stride), "1");
}

TEST_F(DotLoopTest, refuses_with_a_reason) {
  EXPECT_EQ(match(with(kPointers, "constant 512", "constant 480")).reason,
            "an operand does not advance by its own depth");
  EXPECT_EQ(match(with(kPointers, "sub %K, %kk", "sub %K, %k")).reason,
            "a mask does not move with the operand");
  EXPECT_EQ(match(with(kDescriptors, "    yield %next",
                       "    %v = load %a {volatile = 1} : ptr<f32>\n    yield %next"))
                .reason,
            "the loop loads more than the dot's operands");
  EXPECT_EQ(match(with(kDescriptors, "    yield %next",
                       "    %f = constant 1.0 : f32\n    store %a, %f : ptr<f32>\n    yield %next"))
                .reason,
            "the loop does more than load and multiply");
  EXPECT_EQ(match(with(kDescriptors, "    %next = dot %x,",
                       "    %xx = neg %x : tile<32x16xf32>\n    %next = dot %xx,"))
                .reason,
            "an operand of the dot is computed from what is loaded");
}

TEST_F(DotLoopTest, a_nonzero_start_is_kept) {
  const DotLoopMatch& found =
      match(with(kDescriptors, "%zeros = constant 0.0", "%zeros = constant -0.0"));
  ASSERT_TRUE(found.plan) << found.reason;
  EXPECT_FALSE(found.plan->starts_at_zero);
}

TEST_F(DotLoopTest, an_offset_that_may_be_negative_keeps_its_bound) {
  const DotLoopMatch& found = match(with(kDescriptors, "mul %pid_m, %BM", "mul %M, %BM"));
  ASSERT_TRUE(found.plan) << found.reason;
  ASSERT_EQ(found.plan->a.across.from.size(), 1u);
  EXPECT_EQ(to_string(found.plan->a.across.from[0]), "-32*M");
}

}  // namespace
}  // namespace enceladus::loop
