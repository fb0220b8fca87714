// Random kernels store the same before and after every pass.
#include <gtest/gtest.h>

#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "random_function.h"
#include "tile_evaluator.h"
#include "transforms/tile_passes.h"

namespace enceladus::transforms {
namespace {

using enceladus::testing::Memory;
using enceladus::testing::RandomFunction;
using enceladus::testing::TileEvaluator;

constexpr uint32_t kKernels = 40;
constexpr int64_t kArguments[][7] = {
    {1 << 20, 1 << 28, 5, 16, 7, 100, 1},
    {1 << 20, 1 << 28, 2147483647, -48, 4294967295, -4000000000, 0},
    {1 << 20, 1 << 20, -7, 1 << 30, 1 << 31, 3, 1},
};
constexpr int64_t kPrograms[][3] = {{0, 0, 0}, {3, 1, 0}, {100000, 70000, 0}};

struct Run {
  Memory memory;
  bool meaningful;
};

// Of all arguments and programs. Before widen_offsets addresses are exact.
std::vector<Run> results(const ir::Function& function, bool exact_addresses) {
  std::vector<Run> runs;
  for (const auto& arguments : kArguments) {
    for (const auto& program : kPrograms) {
      TileEvaluator evaluator(function, {program[0], program[1], program[2]});
      evaluator.exact_addresses = exact_addresses;
      evaluator.run({std::begin(arguments), std::end(arguments)});
      runs.push_back({std::move(evaluator.memory), !evaluator.beyond_64_bits});
    }
  }
  return runs;
}

// The first place where two runs differ.
std::string difference(const std::vector<Run>& expected, const std::vector<Run>& actual) {
  for (size_t run = 0; run < expected.size(); ++run) {
    if (!expected[run].meaningful) continue;
    for (const auto& [address, bits] : expected[run].memory) {
      auto found = actual[run].memory.find(address);
      if (found == actual[run].memory.end() || found->second != bits)
        return "run " + std::to_string(run) + " stores " + std::to_string(bits) + " at " +
               std::to_string(address) + " before, " +
               (found == actual[run].memory.end() ? "nothing" : std::to_string(found->second)) +
               " after";
    }
    if (expected[run].memory.size() != actual[run].memory.size())
      return "run " + std::to_string(run) + " stores more after";
  }
  return {};
}

bool widens(const std::string& pass) { return pass == "optimize" || pass == "widen_offsets"; }

void check(uint32_t seed, const std::vector<std::string>& passes) {
  std::unique_ptr<ir::Function> function = RandomFunction(seed).make();
  ASSERT_EQ(ir::verify(*function), std::vector<std::string>()) << "seed " << seed;
  std::string before = ir::print(*function);
  std::vector<Run> expected = results(*function, widens(passes.front()));
  for (const std::string& name : passes) {
    if (name == "optimize") {
      optimize(*function);
    } else {
      find_tile_pass(name)->run(*function);
    }
    std::string text = ir::print(*function);
    ASSERT_EQ(ir::verify(*function), std::vector<std::string>())
        << name << ", seed " << seed << "\n"
        << before << text;
    ASSERT_EQ(difference(expected, results(*function, false)), "")
        << name << ", seed " << seed << "\n"
        << before << text;
  }
  std::string text = ir::print(*function);
  EXPECT_EQ(ir::print(*ir::parse(text)), text);
}

TEST(RandomKernels, each_pass_keeps_what_is_stored) {
  for (const TilePass& pass : tile_passes())
    for (uint32_t seed = 0; seed < kKernels; ++seed)
      ASSERT_NO_FATAL_FAILURE(check(seed, {std::string(pass.name)}));
}

TEST(RandomKernels, the_whole_order_keeps_what_is_stored) {
  for (uint32_t seed = 0; seed < 4 * kKernels; ++seed)
    ASSERT_NO_FATAL_FAILURE(
        check(seed, {"optimize", "fold", "carried_offsets", "fold_ranges", "licm", "dce"}));
}

}  // namespace
}  // namespace enceladus::transforms
