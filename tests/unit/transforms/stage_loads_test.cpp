// Which loads of a loop run ahead of it, and in what form.
#include "transforms/stage_loads.h"

#include <gtest/gtest.h>

#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"

namespace enceladus::transforms {
namespace {

using ir::Opcode;

// A product of 32 columns at a time; `extra` stands in the loop before the dot.
std::string product(const std::string& extra = "") {
  return R"(kernel @k(%a: ptr<f16> {aligned_16}, %b: ptr<f16> {aligned_16}, %n: i32) {num_warps = 4, math_mode = relaxed, arrays_disjoint, arrays_small} {
  %c0 = constant 0 : i32
  %c1 = constant 1 : i32
  %c32 = constant 32 : i32
  %c64 = constant 64 : i32
  %da = make_descriptor %a, %c64, %n, %n, %c1 : desc<64x32xf16>
  %db = make_descriptor %b, %n, %c64, %c64, %c1 : desc<32x64xf16>
  %z = constant 0.0 : tile<64x64xf32>
  %s = for %k = %c0 to %n step %c32 carry (%acc = %z) : (tile<64x64xf32>) {
    %x = descriptor_load %da, %c0, %k : tile<64x32xf16>
    %y = descriptor_load %db, %k, %c0 : tile<32x64xf16>
)" + extra +
         R"(    %d = dot %x, %y, %acc : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32> -> tile<64x64xf32>
    yield %d
  }
}
)";
}

bool always(const ir::Operation&) { return true; }
bool any_load(const ir::Operation&, const analysis::Facts&) { return true; }
bool no_load(const ir::Operation&, const analysis::Facts&) { return false; }

int count(const ir::Function& function, Opcode opcode) {
  int found = 0;
  ir::walk(function.body(), [&](const ir::Operation* op) { found += op->is(opcode); });
  return found;
}

std::unique_ptr<ir::Function> staged(const std::string& text,
                                     bool (*is_copied)(const ir::Operation&,
                                                       const analysis::Facts&),
                                     int num_stages = 0) {
  std::unique_ptr<ir::Function> function = ir::parse(text);
  function->options().num_stages = num_stages;
  stage_loads(
      *function,
      {.bytes = 65536, .default_stages = 3, .reads_stages = always, .is_copied = is_copied});
  EXPECT_EQ(ir::verify(*function), std::vector<std::string>()) << ir::print(*function);
  return function;
}

TEST(StageLoads, copies_go_to_slots_ahead_of_the_loop) {
  std::unique_ptr<ir::Function> function = staged(product(), any_load);
  EXPECT_EQ(count(*function, Opcode::kStageBuffer), 2);
  // Two turns before the loop, one in it.
  EXPECT_EQ(count(*function, Opcode::kStageStore), 6);
  EXPECT_EQ(count(*function, Opcode::kStageLoad), 2);
  EXPECT_EQ(count(*function, Opcode::kStageWait), 1);
}

TEST(StageLoads, other_loads_are_held_for_a_turn_behind_whose_dot_they_go_to_a_slot) {
  std::unique_ptr<ir::Function> function = staged(product(), no_load);
  EXPECT_EQ(count(*function, Opcode::kStageBuffer), 2);
  EXPECT_EQ(count(*function, Opcode::kDescriptorLoad), 4);
  EXPECT_EQ(count(*function, Opcode::kStageStore), 4);
  EXPECT_EQ(count(*function, Opcode::kStageLoad), 2);
  ir::walk(function->body(), [](const ir::Operation* op) {
    if (!op->is(Opcode::kFor)) return;
    EXPECT_EQ(op->result_count(), 2);  // the sum and the slot
    bool is_multiplied = false;
    for (const ir::Operation* nested : *op->region(0)) {
      is_multiplied |= nested->is(Opcode::kDot);
      EXPECT_FALSE(nested->is(Opcode::kStageStore) && !is_multiplied);
      EXPECT_FALSE(nested->is(Opcode::kDescriptorLoad) && is_multiplied);
    }
  });
}

TEST(StageLoads, one_stage_leaves_the_loop_as_it_is) {
  std::unique_ptr<ir::Function> function = staged(product(), any_load, 1);
  EXPECT_EQ(count(*function, Opcode::kStageBuffer), 0);
  EXPECT_EQ(count(*function, Opcode::kDescriptorLoad), 2);
}

TEST(StageLoads, what_the_loop_writes_is_not_loaded_ahead) {
  std::unique_ptr<ir::Function> function =
      staged(product("    descriptor_store %da, %x, %c0, %k : desc<64x32xf16>, tile<64x32xf16>\n"),
             any_load);
  // Of b alone.
  EXPECT_EQ(count(*function, Opcode::kStageBuffer), 1);
}

}  // namespace
}  // namespace enceladus::transforms
