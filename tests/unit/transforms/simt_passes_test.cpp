// Passes on SIMT IR: which running sums wait for their lanes until the loop's end, and what happens
// before the wait for a product.
#include <gtest/gtest.h>

#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "transforms/dce.h"
#include "transforms/defer_sums.h"
#include "transforms/late_waits.h"
#include "transforms/narrow_divisions.h"
#include "transforms/share_reciprocals.h"
#include "transforms/short_sigmoid.h"

namespace enceladus::transforms {
namespace {

// The row sums of online softmax, scaled by `%scale` in each turn.
std::string running_sum(const std::string& scale, const std::string& math_mode = "relaxed",
                        const std::string& first = "0.0") {
  return R"(kernel @k(%out: ptr<f32>, %n: i32, %f: f32) {num_warps = 4, math_mode = )" + math_mode +
         R"(} {
  %zero = constant 0 : i32
  %one = constant 1 : i32
  %sum = constant )" +
         first + R"( : tile<2xf32>
  %lane = linear {register_bases = [64], lane_bases = [1, 2, 4, 8, 16], warp_bases = [0, 0]} : tile<2xi32>
  %own = cast %lane : tile<2xi32> -> tile<2xf32>
  %turned = shuffle_xor %own {mask = 1} : tile<2xf32>
  %most = max %own, %turned : tile<2xf32>
  %same = splat %f : f32 -> tile<2xf32>
  %r = for %i = %zero to %n step %one carry (%s = %sum) : (tile<2xf32>) {
    %scaled = mul %s, )" +
         scale + R"( : tile<2xf32>
    %x1 = shuffle_xor %own {mask = 1} : tile<2xf32>
    %y1 = add %own, %x1 : tile<2xf32>
    %row = add %y1, %scaled : tile<2xf32>
    yield %row
  }
  %p = splat %out : ptr<f32> -> tile<2xptr<f32>>
  %q = addptr %p, %lane : tile<2xptr<f32>>, tile<2xi32>
  store %q, %r {vector = 1} : tile<2xptr<f32>>
}
)";
}

bool is_deferred(const std::string& text) {
  std::unique_ptr<ir::Function> function = ir::parse(text);
  bool changed = defer_sums(*function);
  EXPECT_EQ(ir::verify(*function), std::vector<std::string>()) << ir::print(*function);
  int inside = 0, behind = 0;
  ir::walk(function->body(), [&](const ir::Operation* op) {
    if (!op->is(ir::Opcode::kShuffleXor)) return;
    if (op->parent_operation()) ++inside;
    if (!op->parent_operation() && op->operand(0)->definition()->is(ir::Opcode::kFor)) ++behind;
  });
  EXPECT_EQ(inside, changed ? 0 : 1);
  EXPECT_EQ(behind, changed ? 1 : 0);
  return changed;
}

TEST(DeferSums, lanes_exchange_their_parts_of_a_running_sum_behind_the_loop) {
  EXPECT_TRUE(is_deferred(running_sum("%same")));
  // What two lanes have exchanged they agree on.
  EXPECT_TRUE(is_deferred(running_sum("%most")));
}

TEST(DeferSums, a_scale_that_differs_between_lanes_keeps_the_exchange_in_the_loop) {
  EXPECT_FALSE(is_deferred(running_sum("%own")));
}

TEST(DeferSums, a_first_value_would_count_once_a_lane) {
  EXPECT_FALSE(is_deferred(running_sum("%same", "relaxed", "1.0")));
}

TEST(DeferSums, precise_sums_are_rounded_where_they_are_written) {
  EXPECT_FALSE(is_deferred(running_sum("%same", "precise")));
}

constexpr const char* kBias =
    R"(kernel @k(%bias: ptr<f32>, %n: i32) {num_warps = 4, math_mode = relaxed} {
  %acc = undefined : tile<2xf32>
  wgmma_wait {pending = 0}
  %sum = wgmma_result %acc : tile<2xf32>
  %lane = linear {register_bases = [1], lane_bases = [2, 4, 8, 16, 32], warp_bases = [0, 0]} : tile<2xi32>
  %p = splat %bias : ptr<f32> -> tile<2xptr<f32>>
  %q = addptr %p, %lane : tile<2xptr<f32>>, tile<2xi32>
  %b = load %q {vector = 2} : tile<2xptr<f32>>
  %r = add %sum, %b : tile<2xf32>
  %late = load %q {vector = 2} : tile<2xptr<f32>>
  %t = add %r, %late : tile<2xf32>
  store %q, %t {vector = 2} : tile<2xptr<f32>>
}
)";

TEST(LateWaits, what_needs_no_product_is_loaded_before_the_wait) {
  std::unique_ptr<ir::Function> function = ir::parse(kBias);
  EXPECT_TRUE(late_waits(*function));
  EXPECT_EQ(ir::verify(*function), std::vector<std::string>());
  std::string text = ir::print(*function);
  size_t wait = text.find("wgmma_wait"), load = text.find(" load ");
  ASSERT_NE(wait, std::string::npos);
  EXPECT_LT(load, wait) << text;
  // Behind the first use of the product everything stays.
  EXPECT_GT(text.find(" load ", load + 1), text.find("wgmma_result")) << text;
  EXPECT_FALSE(late_waits(*function));
}

// A bias of `type` loaded behind a loop of products, at a place that `index` tells.
std::string bias_behind_loop(const std::string& type, const std::string& index) {
  return "kernel @k(%bias: ptr<" + type + R"(>, %n: i32) {num_warps = 4, math_mode = relaxed} {
  %zero = constant 0 : i32
  %one = constant 1 : i32
  %none = undefined : tile<64xf32>
  %sum, %last = for %k = %zero to %n step %one carry (%acc = %none, %was = %zero) : (tile<64xf32>, i32) {
    %next = wgmma %k, %k, acc = %acc {shape = [64, 128, 16], input = "f16", a_place = [0, 32, 16, 256, 32, 1, 0, 2048], b_place = [0, 32, 16, 256, 32, 1, 0, 2048]} : i32, tile<64xf32> -> tile<64xf32>
    yield %next, %k
  }
  %at = addptr %bias, )" +
         index + " : ptr<" + type + R"(>, i32
  wgmma_wait {pending = 0}
  %done = wgmma_result %sum : tile<64xf32>
  %p = splat %at : ptr<)" +
         type + "> -> tile<64xptr<" + type + R"(>>
  %b = load %p {vector = 1} : tile<64xptr<)" +
         type + R"(>>
  store %p, %b {vector = 1} : tile<64xptr<)" +
         type + R"(>>
}
)";
}

// Whether the bias is loaded before the loop.
bool is_loaded_early(const std::string& text) {
  std::unique_ptr<ir::Function> function = ir::parse(text);
  late_waits(*function);
  EXPECT_EQ(ir::verify(*function), std::vector<std::string>()) << ir::print(*function);
  std::string printed = ir::print(*function);
  EXPECT_LT(printed.find(" load "), printed.find("wgmma_wait")) << printed;
  return printed.find(" load ") < printed.find(" for ");
}

TEST(LateWaits, what_few_registers_hold_is_loaded_before_the_loop) {
  EXPECT_TRUE(is_loaded_early(bias_behind_loop("f16", "%n")));
  EXPECT_FALSE(is_loaded_early(bias_behind_loop("f32", "%n")));
  // Its place is known behind the loop alone.
  EXPECT_FALSE(is_loaded_early(bias_behind_loop("f16", "%last")));
}

TEST(ShortSigmoid, a_sigmoid_is_one_tanh_in_fast_mode_alone) {
  for (std::string mode : {"fast", "relaxed"}) {
    std::unique_ptr<ir::Function> function =
        ir::parse("kernel @k(%out: ptr<f32>, %x: f32) {num_warps = 4, math_mode = " + mode + R"(} {
  %one = constant 1.0 : f32
  %less = neg %x : f32
  %power = exp %less : f32
  %sum = add %power, %one : f32
  %s = div %one, %sum : f32
  store %out, %s : ptr<f32>
}
)");
    EXPECT_EQ(short_sigmoid(*function), mode == "fast");
    EXPECT_EQ(ir::verify(*function), std::vector<std::string>());
    EXPECT_EQ(ir::print(*function).find("tanh") != std::string::npos, mode == "fast");
  }
}

// A row's quotients by its sum, which `divisor` makes of %sum.
std::string quotients(const std::string& divisor, const std::string& math_mode) {
  return "kernel @k(%out: ptr<f32>, %x: f32) {num_warps = 4, math_mode = " + math_mode + R"(} {
  %lane = linear {register_bases = [32, 64, 128], lane_bases = [1, 2, 4, 8, 16], warp_bases = [0, 0]} : tile<8xi32>
  %a = cast %lane : tile<8xi32> -> tile<8xf32>
  %sum = shuffle_xor %x {mask = 1} : f32
)" + divisor +
         R"(
  %q = div %a, %d : tile<8xf32>
  %p = splat %out : ptr<f32> -> tile<8xptr<f32>>
  %at = addptr %p, %lane : tile<8xptr<f32>>, tile<8xi32>
  store %at, %q {vector = 1} : tile<8xptr<f32>>
}
)";
}

// Registers in which a quotient is left; -1 where nothing changed.
int64_t shared(const std::string& divisor, const std::string& math_mode = "relaxed") {
  std::unique_ptr<ir::Function> function = ir::parse(quotients(divisor, math_mode));
  bool changed = share_reciprocals(*function);
  EXPECT_EQ(ir::verify(*function), std::vector<std::string>()) << ir::print(*function);
  int64_t most = -1;
  ir::walk(function->body(), [&](const ir::Operation* op) {
    if (op->is(ir::Opcode::kDiv)) most = std::max(most, op->result()->type().elements());
  });
  return changed ? most : -1;
}

TEST(ShareReciprocals, the_reciprocal_of_a_divisor_is_made_once_for_all_registers) {
  EXPECT_EQ(shared("  %d = splat %sum : f32 -> tile<8xf32>"), 1);
  // Of two rows, each the divisor of every other register.
  EXPECT_EQ(shared("  %two = pack %sum, %x : f32, f32 -> tile<2xf32>\n"
                   "  %d = registers %two {register_map = [0, 1, 0, 1, 0, 1, 0, 1]} : "
                   "tile<2xf32> -> tile<8xf32>"),
            2);
}

TEST(ShareReciprocals, quotients_stay_that_share_nothing_or_are_rounded_correctly) {
  EXPECT_EQ(shared("  %d = exp %a : tile<8xf32>"), -1);
  EXPECT_EQ(shared("  %d = constant 3.0 : tile<8xf32>"), -1);
  EXPECT_EQ(shared("  %d = splat %sum : f32 -> tile<8xf32>", "precise"), -1);
}

std::string division(const std::string& dividend, const std::string& divisor) {
  return R"(kernel @k(%out: ptr<i64>, %n: i32, %wide: i64) {num_warps = 4, math_mode = relaxed} {
  %one = constant 1 : i32
  %id = program_id {axis = 0} : i32
  %count = max %n, %one : i32
  %wide_id = cast %id : i32 -> i64
  %wide_n = cast %n : i32 -> i64
  %q = div )" +
         dividend + ", " + divisor + R"( : i64
  store %out, %q {vector = 1} : ptr<i64>
}
)";
}

// The dtypes of a function's divisions behind the pass.
std::vector<DType> divided_in(const std::string& text) {
  std::unique_ptr<ir::Function> function = ir::parse(text);
  narrow_divisions(*function);
  remove_dead_code(*function);
  EXPECT_EQ(ir::verify(*function), std::vector<std::string>()) << ir::print(*function);
  std::vector<DType> found;
  ir::walk(function->body(), [&](const ir::Operation* op) {
    if (op->is(ir::Opcode::kDiv)) found.push_back(op->result()->type().dtype());
  });
  return found;
}

TEST(NarrowDivisions, a_dividend_of_32_bits_decides_whatever_the_divisor) {
  using Found = std::vector<DType>;
  EXPECT_EQ(divided_in(division("%wide_id", "%wide_n")), Found{DType::kInt32});
  EXPECT_EQ(divided_in(division("%wide_id", "%wide")), Found{DType::kInt32});
  EXPECT_EQ(divided_in(division("%wide_id", "%wide_id")), Found{DType::kUInt32});
  // -2^31 has no negative in 32 bits.
  EXPECT_EQ(divided_in(division("%wide_n", "%wide_id")), Found{DType::kInt64});
  EXPECT_EQ(divided_in(division("%wide", "%wide_n")), Found{DType::kInt64});
}

TEST(NarrowDivisions, a_divisor_out_of_range_becomes_one_beyond_every_dividend) {
  std::unique_ptr<ir::Function> function = ir::parse(division("%wide_id", "%wide"));
  narrow_divisions(*function);
  std::string text = ir::print(*function);
  EXPECT_NE(text.find("constant -2147483647 : i64"), std::string::npos) << text;
  EXPECT_NE(text.find("constant 2147483647 : i64"), std::string::npos) << text;
}

}  // namespace
}  // namespace enceladus::transforms
