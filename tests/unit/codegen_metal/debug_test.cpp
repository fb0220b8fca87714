// device_print and device_assert under the simulator: which lines come and what the buffer of the
// first failure holds.
#include <algorithm>

#include "metal_kernels.h"

namespace enceladus::metal {
namespace {

using simulator::Schedule;

constexpr const char* kPrints = R"(
  %i = arange {start = 0} : tile<4xi32>
  %p = splat %x : ptr<f32> -> tile<4xptr<f32>>
  %q = addptr %p, %i : tile<4xptr<f32>>, tile<4xi32>
  %v = load %q : tile<4xptr<f32>>
  device_print %v {text = "x"}
  device_print %n, %i {text = "100%:"}
  device_print %n {text = "n: ", hex = 1}
  device_print {text = "done"}
)";

TEST(Debug, prints_a_line_an_element) {
  std::vector<Array> arrays = {Array::of(std::vector<float>{1.5f, -2, 0, 1e6f}),
                               Array::scalars({-1})};
  std::vector<std::string> log;
  run(kernel(4, "%x: ptr<f32>, %n: i32", kPrints), arrays, {2}, Schedule::kInOrder, &log);
  if (IsSkipped()) return;
  std::vector<std::string> expected;
  for (std::string pid : {"pid (0, 0, 0)", "pid (1, 0, 0)"}) {
    const char* values[] = {"1.500000", "-2.000000", "0.000000", "1000000.000000"};
    for (int i = 0; i < 4; ++i) {
      std::string index = " idx (" + std::to_string(i) + ")";
      expected.push_back(pid + index + " x: " + values[i]);
      expected.push_back(pid + index + " 100%: (operand 1) " + std::to_string(i));
    }
    expected.push_back(pid + " idx () 100%: (operand 0) -1");
    expected.push_back(pid + " idx () n: 0xffffffff");
    expected.push_back(pid + " done");
  }
  std::sort(log.begin(), log.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(log, expected);
}

constexpr const char* kAsserts = R"(
  %pid = program_id {axis = 0} : i32
  %one = constant 1 : i32
  %fine = ge %n, %one : i32
  device_assert %fine {text = "n must be positive"}
  %i = arange {start = 0} : tile<64xi32>
  %p = splat %pid : i32 -> tile<64xi32>
  %c = constant 2 : tile<64xi32>
  %low = lt %p, %c : tile<64xi32>
  %sixty = constant 60 : tile<64xi32>
  %high = ge %i, %sixty : tile<64xi32>
  device_assert %low, %high {text = "too many programs"}
)";

TEST(Debug, the_first_failure_is_kept) {
  std::string text = kernel(4, "%n: i32", kAsserts);
  text.replace(text.find(", arrays"), 0, ", debug");
  EXPECT_EQ(compiled(text).messages,
            (std::vector<std::string>{"<unknown>:0: assertion failed: n must be positive",
                                      "<unknown>:0: assertion failed: too many programs"}));
  std::vector<Array> arrays = {Array::scalars({7}), Array::of(std::vector<uint32_t>(4))};
  run(text, arrays, {3}, Schedule::kInOrder);
  if (IsSkipped()) return;
  EXPECT_EQ(arrays[1].as<uint32_t>(), (std::vector<uint32_t>{2, 2, 0, 0}));
}

TEST(Debug, assertions_cost_nothing_outside_debug_mode) {
  Artifact artifact = compiled(kernel(4, "%n: i32", kAsserts));
  EXPECT_TRUE(artifact.messages.empty());
  EXPECT_EQ(artifact.stages.back().second.find("failure"), std::string::npos);
}

}  // namespace
}  // namespace enceladus::metal
