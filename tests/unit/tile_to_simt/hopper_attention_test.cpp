// Attention on Hopper's asynchronous units: when its operands are freed, when the values' product
// starts, and in which order the programs of causal attention run.
#include <gtest/gtest.h>

#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "lowering/tile_to_simt/hopper_plan.h"
#include "lowering/tile_to_simt/tile_to_simt.h"

namespace enceladus::simt {
namespace {

// Sums of (q k^T) v over blocks of keys, the former sum halved in each turn.
std::string attention(const std::string& end, const std::string& left = "%p") {
  return R"(kernel @attention(%q: ptr<f16> {aligned_16}, %k: ptr<f16> {aligned_16}, %v: ptr<f16> {aligned_16}, %o: ptr<f16> {aligned_16}, %S: i32 {divisible_by_16}) {num_warps = 8, math_mode = relaxed, arrays_disjoint} {
  %m = program_id {axis = 0} : i32
  %one = constant 1 : i32
  %zero = constant 0 : i32
  %d = constant 128 : i32
  %row = mul %m, %d : i32
  %below = add %row, %d : i32
  %dq = make_descriptor %q, %S, %d, %d, %one : desc<128x128xf16>
  %dk = make_descriptor %k, %S, %d, %d, %one : desc<128x128xf16>
  %dv = make_descriptor %v, %S, %d, %d, %one : desc<128x128xf16>
  %do = make_descriptor %o, %S, %d, %d, %one : desc<128x128xf16>
  %x = descriptor_load %dq, %row, %zero : tile<128x128xf16>
  %none = constant 0.0 : tile<128x128xf32>
  %half = constant 0.5 : tile<128x128xf32>
  %fixed = constant 0.25 : tile<128x128xf16>
  %r = for %n = %zero to )" +
         end + R"( step %d carry (%acc = %none) : (tile<128x128xf32>) {
    %y = descriptor_load %dk, %n, %zero : tile<128x128xf16>
    %t = transpose %y {permutation = [1, 0]} : tile<128x128xf16> -> tile<128x128xf16>
    %s = dot %x, %t, %none : tile<128x128xf16>, tile<128x128xf16>, tile<128x128xf32> -> tile<128x128xf32>
    %p = cast %s : tile<128x128xf32> -> tile<128x128xf16>
    %z = descriptor_load %dv, %n, %zero : tile<128x128xf16>
    %less = mul %acc, %half : tile<128x128xf32>
    %next = dot )" +
         left +
         R"(, %z, %less : tile<128x128xf16>, tile<128x128xf16>, tile<128x128xf32> -> tile<128x128xf32>
    yield %next
  }
  %out = cast %r : tile<128x128xf32> -> tile<128x128xf16>
  descriptor_store %do, %out, %row, %zero : desc<128x128xf16>, tile<128x128xf16>
}
)";
}

std::unique_ptr<ir::Function> lowered(const std::string& text) {
  std::unique_ptr<ir::Function> tile = ir::parse(text);
  SimtTarget target{.name = "test",
                    .shared_bytes = 231424,
                    .has_warp_reduction = [](ir::CombineKind, DType) { return false; },
                    .matrix_use = [](const ir::Operation&) { return std::optional<MatrixUse>(); },
                    .has_wgmma = true};
  LoweringReport report;
  std::unique_ptr<ir::Function> function = lower(*tile, target, report);
  std::vector<std::string> mistakes = ir::verify(*function);
  EXPECT_TRUE(mistakes.empty()) << mistakes.front() << "\n" << ir::print(*function);
  return function;
}

TEST(HopperAttention, the_values_product_starts_behind_the_next_scores) {
  std::unique_ptr<ir::Function> tile = ir::parse(attention("%S"));
  HopperPlan plan = plan_hopper(*tile, analysis::Facts(*tile));
  ASSERT_EQ(plan.products.size(), 2u);
  int late = 0;
  for (const auto& [dot, product] : plan.products) {
    if (!product.done_before) continue;
    ++late;
    // What makes its operand comes first of what has to wait for it.
    EXPECT_TRUE(product.done_before->is(ir::Opcode::kCast));
    EXPECT_EQ(product.a.load, -1);
  }
  EXPECT_EQ(late, 1);
  // Scores wait for all but the product started behind them.
  std::string text = ir::print(*lowered(attention("%S")));
  EXPECT_NE(text.find("wgmma_wait {pending = 1}"), std::string::npos) << text;
}

TEST(HopperAttention, an_operand_that_no_turn_computes_starts_at_once) {
  std::unique_ptr<ir::Function> tile = ir::parse(attention("%S", "%fixed"));
  HopperPlan plan = plan_hopper(*tile, analysis::Facts(*tile));
  for (const auto& [dot, product] : plan.products) EXPECT_EQ(product.done_before, nullptr);
  lowered(attention("%S", "%fixed"));
}

TEST(HopperAttention, the_queries_are_freed_in_the_last_turn) {
  std::unique_ptr<ir::Function> tile = ir::parse(attention("%S"));
  HopperPlan plan = plan_hopper(*tile, analysis::Facts(*tile));
  int early = 0;
  for (const RingPlan& ring : plan.rings) early += ring.freed_in != nullptr;
  EXPECT_EQ(early, 1);
  // Where the turn is the last.
  std::unique_ptr<ir::Function> function = lowered(attention("%S"));
  int inside = 0;
  ir::walk(function->body(), [&](const ir::Operation* op) {
    if (op->is(ir::Opcode::kRingFree) && op->operand(2))
      inside += op->operand(2)->definition()->is(ir::Opcode::kLe);
  });
  EXPECT_EQ(inside, 1);
}

TEST(HopperAttention, only_where_the_keys_end_with_the_row_is_the_work_uneven) {
  for (bool causal : {false, true}) {
    std::unique_ptr<ir::Function> tile = ir::parse(attention(causal ? "%below" : "%S"));
    EXPECT_EQ(plan_hopper(*tile, analysis::Facts(*tile)).is_uneven, causal);
  }
}

}  // namespace
}  // namespace enceladus::simt
