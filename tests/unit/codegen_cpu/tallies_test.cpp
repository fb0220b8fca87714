#include "codegen/cpu/tallies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ir/parser.h"
#include "kernel_runner.h"

namespace enceladus::cpu {
namespace {

constexpr const char* kApart = "num_warps = 4, math_mode = relaxed, arrays_disjoint";

// 64 values a program; `rest` sees them as %x, the pointers that they select as %p, ones as %one.
std::string counting_kernel(const std::string& rest, const std::string& type = "i32",
                            const std::string& options = kApart) {
  const std::string pointers = "tile<64xptr<" + type + ">>";
  return "kernel @k(%values: ptr<i32>, %counts: ptr<" + type + ">, %other: ptr<" + type + ">) {" +
         options + R"(} {
  %pid = program_id {axis = 0} : i32
  %size = constant 64 : i32
  %start = mul %pid, %size : i32
  %starts = splat %start : i32 -> tile<64xi32>
  %i = arange {start = 0} : tile<64xi32>
  %at = add %starts, %i : tile<64xi32>
  %v = splat %values : ptr<i32> -> tile<64xptr<i32>>
  %pv = addptr %v, %at : tile<64xptr<i32>>, tile<64xi32>
  %x = load %pv : tile<64xptr<i32>>
  %c = splat %counts : ptr<)" +
         type + "> -> " + pointers + "\n  %p = addptr %c, %x : " + pointers +
         ", tile<64xi32>\n  %one = constant 1 : tile<64x" + type + ">\n" + rest + "}\n";
}

const std::string kAdd = "  %old = atomic_rmw %p, %one {atomic = add} : tile<64xptr<i32>>\n";

size_t tallies_of(const std::string& text) { return Tallies(*ir::parse(text)).all().size(); }

TEST(TalliesTest, integer_additions_of_32_and_64_bits_qualify) {
  for (const char* type : {"i32", "u32", "i64", "u64"})
    EXPECT_EQ(
        tallies_of(counting_kernel(std::string("  %old = atomic_rmw %p, %one {atomic = add}") +
                                       " : tile<64xptr<" + type + ">>\n",
                                   type)),
        1u)
        << type;
}

TEST(TalliesTest, additions_to_one_parameter_share_a_tally) {
  const auto function = ir::parse(counting_kernel(kAdd + R"(
  %p2 = addptr %p, %one : tile<64xptr<i32>>, tile<64xi32>
  %old2 = atomic_rmw %p2, %x {atomic = add} : tile<64xptr<i32>>
  %c3 = splat %other : ptr<i32> -> tile<64xptr<i32>>
  %old3 = atomic_rmw %c3, %x {atomic = add} : tile<64xptr<i32>>
)"));
  const Tallies tallies(*function);
  ASSERT_EQ(tallies.all().size(), 2u);
  EXPECT_EQ(tallies.all()[0].parameter, 1);
  EXPECT_EQ(tallies.all()[0].additions, 128);
  EXPECT_EQ(tallies.all()[1].parameter, 2);
  EXPECT_EQ(tallies.all()[0].elements, kTallyBytes / 2 / 4);
  EXPECT_GE(tallies.all()[1].offset, kTallyBytes / 2 + 4);
}

TEST(TalliesTest, what_others_could_notice_does_not_qualify) {
  const char* pointers = " : tile<64xptr<i32>>\n";
  const std::string cases[] = {
      // its old values are used
      kAdd + "  store %pv, %old" + pointers,
      // another order of memory, another operation
      std::string("  %o = atomic_rmw %p, %one {atomic = add, semantics = \"acq_rel\"}") + pointers,
      std::string("  %o = atomic_rmw %p, %one {atomic = max}") + pointers,
      // the counts are read, written, changed otherwise
      kAdd + "  %seen = load %p" + pointers + "  store %pv, %seen" + pointers,
      kAdd + "  store %p, %one" + pointers,
      kAdd + "  %o = atomic_rmw %p, %one {atomic = xor}" + pointers,
  };
  for (const std::string& rest : cases) EXPECT_EQ(tallies_of(counting_kernel(rest)), 0u) << rest;
  EXPECT_EQ(tallies_of(counting_kernel(kAdd)), 1u);
  // the values may be the counts
  EXPECT_EQ(tallies_of(counting_kernel(kAdd, "i32", "num_warps = 4, math_mode = relaxed")), 0u);
  EXPECT_EQ(tallies_of(counting_kernel(
                kAdd, "i32", "num_warps = 4, math_mode = relaxed, debug, arrays_disjoint")),
            0u);
  const std::string floats = "  %o = atomic_rmw %p, %one {atomic = add} : tile<64xptr<f32>>\n";
  EXPECT_EQ(tallies_of(counting_kernel(floats, "f32")), 0u);
}

// 32 and 4096 programs: too few additions to count, and enough for 16384 places.
TEST(TalliesTest, counts_reach_memory_below_within_and_beyond_the_tally) {
  const auto function = ir::parse(counting_kernel(kAdd));
  const int32_t places = 40000, middle = 5000;
  for (const int32_t programs : {1, 32, 4096}) {
    std::vector<int32_t> values(static_cast<size_t>(programs) * 64), counts(places, 7);
    uint32_t state = 1;
    for (int32_t& value : values) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<int32_t>((state >> 8) % places) - middle;
    }
    std::vector<int32_t> expected = counts;
    for (const int32_t value : values) ++expected[static_cast<size_t>(value + middle)];
    KernelRunner runner(*function);
    runner.argument(values.data()).argument(counts.data() + middle).argument(nullptr);
    runner.run(programs);
    EXPECT_EQ(counts, expected) << programs << " programs";
  }
}

TEST(TalliesTest, sums_of_64_bits_wrap_around) {
  const auto function = ir::parse(counting_kernel(R"(
  %large = constant 4611686018427387907 : tile<64xi64>
  %old = atomic_rmw %p, %large {atomic = add} : tile<64xptr<i64>>
)",
                                                  "i64"));
  std::vector<int32_t> values(512 * 64);
  std::iota(values.begin(), values.end(), 0);
  for (int32_t& value : values) value %= 3;
  std::vector<int64_t> counts(3);
  KernelRunner runner(*function);
  runner.argument(values.data()).argument(counts.data()).argument(nullptr).run(512);
  for (size_t place = 0; place < 3; ++place) {
    const auto times =
        static_cast<uint64_t>(std::ranges::count(values, static_cast<int32_t>(place)));
    EXPECT_EQ(static_cast<uint64_t>(counts[place]), times * 4611686018427387907u);
  }
}

}  // namespace
}  // namespace enceladus::cpu
