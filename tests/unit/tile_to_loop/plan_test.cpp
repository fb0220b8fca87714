#include "lowering/tile_to_loop/plan.h"

#include <gtest/gtest.h>

#include "ir/parser.h"

namespace enceladus::loop {
namespace {

constexpr const char* kDisjoint = "num_warps = 4, math_mode = relaxed, arrays_disjoint";
constexpr const char* kMayOverlap = "num_warps = 4, math_mode = relaxed";

class PlanTest : public testing::Test {
 protected:
  void plan(const std::string& parameters, const std::string& options, const std::string& body) {
    function_ = ir::parse("kernel @k(" + parameters + ") {" + options + "} {\n" + body + "}\n");
    plan_ = make_plan(*function_, [](const ir::Operation*, Buffer&) {});
  }

  std::unique_ptr<ir::Function> function_;
  Plan plan_;
};

constexpr const char* kSoftmax = R"(
  %i = arange {start = 0} : tile<1024xi32>
  %xs = splat %x : ptr<f32> -> tile<1024xptr<f32>>
  %px = addptr %xs, %i : tile<1024xptr<f32>>, tile<1024xi32>
  %v = load %px : tile<1024xptr<f32>>
  %m = reduce %v {combine = max, axis = 0} : tile<1024xf32> -> f32
  %ms = splat %m : f32 -> tile<1024xf32>
  %d = sub %v, %ms : tile<1024xf32>
  %e = exp %d : tile<1024xf32>
  %s = reduce %e {combine = add, axis = 0} : tile<1024xf32> -> f32
  %ss = splat %s : f32 -> tile<1024xf32>
  %r = div %e, %ss : tile<1024xf32>
  %os = splat %o : ptr<f32> -> tile<1024xptr<f32>>
  %po = addptr %os, %i : tile<1024xptr<f32>>, tile<1024xi32>
  store %po, %r : tile<1024xptr<f32>>
)";

TEST_F(PlanTest, softmax_runs_over_its_row_three_times_and_keeps_only_the_exponentials) {
  plan("%x: ptr<f32>, %o: ptr<f32>", kDisjoint, kSoftmax);
  ASSERT_EQ(plan_.groups.size(), 3u);
  EXPECT_EQ(plan_.groups[0].roots.size(), 1u);
  ASSERT_EQ(plan_.groups[1].roots.size(), 2u);
  EXPECT_EQ(plan_.groups[1].roots[0].kind, RootKind::kWrite);
  EXPECT_EQ(plan_.groups[1].roots[0].value->name(), "e");
  EXPECT_EQ(plan_.groups[1].roots[1].kind, RootKind::kReduce);
  EXPECT_EQ(plan_.scratch_bytes, 4096);
}

constexpr const char* kCopies = R"(
  %i = arange {start = 0} : tile<64xi32>
  %xs = splat %x : ptr<f32> -> tile<64xptr<f32>>
  %px = addptr %xs, %i : tile<64xptr<f32>>, tile<64xi32>
  %ys = splat %y : ptr<f32> -> tile<64xptr<f32>>
  %py = addptr %ys, %i : tile<64xptr<f32>>, tile<64xi32>
  %a = load %px : tile<64xptr<f32>>
  %b = load %py : tile<64xptr<f32>>
  store %py, %a : tile<64xptr<f32>>
  store %px, %b : tile<64xptr<f32>>
)";

TEST_F(PlanTest, arrays_that_change_places_are_read_before_either_is_written) {
  plan("%x: ptr<f32>, %y: ptr<f32>", kDisjoint, kCopies);
  EXPECT_EQ(plan_.groups.size(), 1u);
  EXPECT_EQ(plan_.scratch_bytes, 0);
}

TEST_F(PlanTest, arrays_that_may_overlap_are_read_whole_before_either_is_written) {
  plan("%x: ptr<f32>, %y: ptr<f32>", kMayOverlap, kCopies);
  EXPECT_GT(plan_.groups.size(), 1u);
  EXPECT_EQ(plan_.scratch_bytes, 2 * 64 * 4);
}

TEST_F(PlanTest, tiles_that_are_never_alive_together_share_scratch) {
  plan("%x: ptr<f32>", kDisjoint, R"(
  %i = arange {start = 0} : tile<64xi32>
  %xs = splat %x : ptr<f32> -> tile<64xptr<f32>>
  %px = addptr %xs, %i : tile<64xptr<f32>>, tile<64xi32>
  %a = load %px : tile<64xptr<f32>>
  %b = scan %a {combine = add, axis = 0} : tile<64xf32> -> tile<64xf32>
  %c = scan %b {combine = add, axis = 0} : tile<64xf32> -> tile<64xf32>
  %d = scan %c {combine = add, axis = 0} : tile<64xf32> -> tile<64xf32>
  store %px, %d : tile<64xptr<f32>>
)");
  EXPECT_EQ(plan_.scratch_bytes, 2 * 64 * 4);
}

TEST_F(PlanTest, an_unused_reduction_is_dropped) {
  plan("%x: ptr<f32>", kDisjoint, R"(
  %i = arange {start = 0} : tile<64xi32>
  %s = reduce %i {combine = add, axis = 0} : tile<64xi32> -> i32
)");
  EXPECT_TRUE(plan_.groups.empty());
}

}  // namespace
}  // namespace enceladus::loop
