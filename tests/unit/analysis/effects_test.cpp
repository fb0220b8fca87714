#include "analysis/effects.h"

#include <gtest/gtest.h>

#include "ir/parser.h"

namespace enceladus::analysis {
namespace {

using ir::Opcode;
using ir::Operation;

constexpr std::string_view kKernel = R"(
kernel @k(%x: ptr<f32>, %y: ptr<f32>, %z: ptr<i64>, %n: i32, %c: i1) {num_warps = 4, math_mode = relaxed, arrays_disjoint} {
  %0 = constant 0 : i32
  %1 = constant 2 : i32
  %2 = select %x, %y, %c : ptr<f32>
  %end = for %i = %0 to %n step %1 carry (%p = %x) : (ptr<f32>) {
    %a = load %p : ptr<f32>
    %b = load %2 : ptr<f32>
    %3 = add %a, %b : f32
    store %y, %3 : ptr<f32>
    %4 = addptr %p, %i : ptr<f32>, i32
    yield %4
  }
  %5 = load %z : ptr<i64>
  %6 = bitcast %5 : i64 -> ptr<f32>
  %7 = load %6 : ptr<f32>
  store %end, %7 : ptr<f32>
})";

std::vector<const Operation*> accesses(const ir::Function& function) {
  std::vector<const Operation*> found;
  ir::walk(function.body(), [&](const Operation* op) {
    if (reads_memory(*op) || writes_memory(*op)) found.push_back(op);
  });
  return found;
}

TEST(MemoryEffects, pointers_are_followed_through_loops_and_selections) {
  std::unique_ptr<ir::Function> function = ir::parse(kKernel);
  MemoryEffects effects(*function);
  std::vector<const Operation*> all = accesses(*function);
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(effects.roots(*all[0]).single(), 0);        // load %p
  EXPECT_EQ(effects.roots(*all[1]).parameters, 0b11u);  // load %2
  EXPECT_EQ(effects.roots(*all[2]).single(), 1);        // store %y
  EXPECT_TRUE(effects.roots(*all[4]).anything);         // load %6
  EXPECT_FALSE(effects.may_alias(*all[0], *all[2]));    // disjoint arrays
  EXPECT_TRUE(effects.may_alias(*all[1], *all[2]));
  EXPECT_TRUE(effects.must_keep_order(*all[4], *all[5]));
  EXPECT_FALSE(effects.must_keep_order(*all[0], *all[1]));  // two loads
  EXPECT_TRUE(effects.is_written(0));
  EXPECT_TRUE(effects.is_written(1));
  EXPECT_FALSE(effects.is_written(2));
  EXPECT_TRUE(effects.is_read(2));
}

TEST(MemoryEffects, different_parameters_may_alias_without_the_promise) {
  std::unique_ptr<ir::Function> function = ir::parse(kKernel);
  function->options().arrays_disjoint = false;
  MemoryEffects effects(*function);
  std::vector<const Operation*> all = accesses(*function);
  EXPECT_TRUE(effects.must_keep_order(*all[0], *all[2]));
}

}  // namespace
}  // namespace enceladus::analysis
