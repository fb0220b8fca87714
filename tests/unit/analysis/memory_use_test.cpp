#include "analysis/memory_use.h"

#include <gtest/gtest.h>

#include "analysis/cost.h"
#include "ir/parser.h"

namespace enceladus::analysis {
namespace {

// "r", "w", "rw" or "-" for each parameter.
std::string uses_of(const std::string& text) {
  std::unique_ptr<ir::Function> function = ir::parse(text);
  std::string result;
  for (const ParameterUse& use : parameter_uses(*function)) {
    std::string word = std::string(use.is_read ? "r" : "") + (use.is_written ? "w" : "");
    result += (result.empty() ? "" : " ") + (word.empty() ? "-" : word);
  }
  return result;
}

TEST(MemoryUse, loads_read_stores_write_atomics_do_both) {
  EXPECT_EQ(
      uses_of(
          R"(kernel @k(%x: ptr<f32>, %y: ptr<f32>, %z: ptr<f32>, %n: i32, %u: ptr<f32>) {num_warps = 4, math_mode = relaxed} {
    %0 = load %x : ptr<f32>
    store %y, %0 : ptr<f32>
    %1 = atomic_rmw %z, %0 {atomic = add} : ptr<f32>
  })"),
      "r w rw - -");
}

TEST(MemoryUse, pointers_are_followed_through_loops_and_branches) {
  EXPECT_EQ(
      uses_of(
          R"(kernel @k(%x: ptr<f32>, %y: ptr<f32>, %n: i32, %c: i1) {num_warps = 4, math_mode = relaxed} {
    %0 = constant 0 : i32
    %1 = constant 1 : i32
    %2 = constant 1.5 : f32
    %p = for %i = %0 to %n step %1 carry (%q = %x) : (ptr<f32>) {
      %next = addptr %q, %1 : ptr<f32>, i32
      yield %next
    }
    %r = if %c : (ptr<f32>) {
      yield %p
    } else {
      yield %y
    }
    store %r, %2 : ptr<f32>
  })"),
      "w w - -");
}

TEST(MemoryUse, descriptors_count_for_their_base) {
  EXPECT_EQ(
      uses_of(
          R"(kernel @k(%x: ptr<f32>, %y: ptr<f32>, %n: i32) {num_warps = 4, math_mode = relaxed} {
    %1 = constant 1 : i32
    %a = make_descriptor %x, %n, %1 : desc<16xf32>
    %b = make_descriptor %y, %n, %1 : desc<16xf32>
    %t = descriptor_load %a, %n : tile<16xf32>
    descriptor_store %b, %t, %n : desc<16xf32>, tile<16xf32>
  })"),
      "r w -");
}

TEST(Cost, counts_bytes_and_operations_of_constant_loops) {
  std::unique_ptr<ir::Function> function =
      ir::parse(R"(kernel @k(%x: ptr<f32>) {num_warps = 4, math_mode = relaxed} {
    %0 = constant 0 : i32
    %1 = constant 1 : i32
    %4 = constant 4 : i32
    %i = arange {start = 0} : tile<8xi32>
    %s = splat %x : ptr<f32> -> tile<8xptr<f32>>
    %p = addptr %s, %i : tile<8xptr<f32>>, tile<8xi32>
    for %k = %0 to %4 step %1 {
      %v = load %p : tile<8xptr<f32>>
      %e = exp %v : tile<8xf32>
      store %p, %e : tile<8xptr<f32>>
      yield
    }
  })");
  Cost cost = estimate_cost(*function);
  EXPECT_EQ(cost.bytes, 4 * 2 * 8 * 4);
  EXPECT_EQ(cost.operations, 8 + 4 * 8 * kMathOperations);
  EXPECT_FALSE(cost.has_unknown_loops);
}

}  // namespace
}  // namespace enceladus::analysis
