// Kernels for Hopper's asynchronous units: what qualifies, what the roles hold, and where the
// elements of a product lie.
#include <gtest/gtest.h>

#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "lowering/tile_to_simt/hopper_plan.h"
#include "lowering/tile_to_simt/tile_to_simt.h"
#include "transforms/rings.h"
#include "transforms/shared_memory.h"

namespace enceladus::simt {
namespace {

constexpr const char* kParameters =
    "(%a: ptr<f16> {aligned_16}, %b: ptr<f16> {aligned_16}, %c: ptr<f16> {aligned_16}, "
    "%M: i32 {divisible_by_16}, %N: i32 {divisible_by_16}, %K: i32 {divisible_by_16})";

// c = a @ b in tiles of 128 x 256 x 64; `stride` is that of a's rows.
std::string matmul(const std::string& options, const std::string& stride = "%K",
                   const std::string& in_loop = "") {
  return std::string("kernel @matmul") + kParameters + " {" + options + R"(} {
  %pn = program_id {axis = 0} : i32
  %pm = program_id {axis = 1} : i32
  %one = constant 1 : i32
  %zero = constant 0 : i32
  %odd = constant 7 : i32
  %da = make_descriptor %a, %M, %K, )" +
         stride + R"(, %one : desc<128x64xf16>
  %db = make_descriptor %b, %K, %N, %N, %one : desc<64x256xf16>
  %dc = make_descriptor %c, %M, %N, %N, %one : desc<128x256xf16>
  %rows = constant 128 : i32
  %columns = constant 256 : i32
  %depth = constant 64 : i32
  %m = mul %pm, %rows : i32
  %n = mul %pn, %columns : i32
  %sum = constant 0.0 : tile<128x256xf32>
  %r = for %k = %zero to %K step %depth carry (%acc = %sum) : (tile<128x256xf32>) {
    %x = descriptor_load %da, %m, %k : tile<128x64xf16>
    %y = descriptor_load %db, %k, %n : tile<64x256xf16>
)" + in_loop +
         R"(    %next = dot %x, %y, %acc : tile<128x64xf16>, tile<64x256xf16>, tile<128x256xf32> -> tile<128x256xf32>
    yield %next
  }
  %half = cast %r : tile<128x256xf32> -> tile<128x256xf16>
  descriptor_store %dc, %half, %m, %n : desc<128x256xf16>, tile<128x256xf16>
}
)";
}

SimtTarget hopper() {
  return {.name = "test",
          .shared_bytes = 231424,
          .has_warp_reduction = [](ir::CombineKind, DType) { return false; },
          .matrix_use = [](const ir::Operation&) { return std::optional<MatrixUse>(); },
          .has_wgmma = true};
}

std::unique_ptr<ir::Function> parse(const std::string& text) { return ir::parse(text); }

HopperPlan plan_of(const std::string& text) {
  std::unique_ptr<ir::Function> function = parse(text);
  return plan_hopper(*function, analysis::Facts(*function));
}

std::string reason_of(const std::string& text) {
  std::unique_ptr<ir::Function> function = parse(text);
  HopperPlan plan = plan_hopper(*function, analysis::Facts(*function));
  EXPECT_FALSE(plan.any());
  return plan.reasons.empty() ? "" : plan.reasons.begin()->second;
}

TEST(Hopper, a_product_of_descriptor_loads_runs_on_the_asynchronous_units) {
  HopperPlan plan = plan_of(matmul("num_warps = 8, math_mode = relaxed"));
  ASSERT_TRUE(plan.any());
  EXPECT_EQ(plan.rings.size(), 1u);
  EXPECT_EQ(plan.rings[0].bytes, 49152);
  EXPECT_TRUE(plan.walks_grid);
  EXPECT_EQ(plan.stores.size(), 1u);
  const WgmmaPlan& product = plan.products.begin()->second;
  EXPECT_EQ(product.group.rows, 64);
  EXPECT_NE(product.running_in, nullptr);
}

TEST(Hopper, each_obstacle_has_its_reason) {
  EXPECT_NE(reason_of(matmul("num_warps = 2, math_mode = relaxed")).find("4 or 8 warps"),
            std::string::npos);
  EXPECT_NE(reason_of(matmul("num_warps = 4, math_mode = relaxed")).find("registers"),
            std::string::npos);
  std::string store = "    descriptor_store %db, %y, %k, %n : desc<64x256xf16>, tile<64x256xf16>\n";
  EXPECT_NE(reason_of(matmul("num_warps = 8, math_mode = relaxed", "%K", store)).find("alone uses"),
            std::string::npos);
  // An unaligned row of a: it comes from registers, b by the copy engine.
  HopperPlan plan = plan_of(matmul("num_warps = 8, math_mode = relaxed", "%odd"));
  ASSERT_TRUE(plan.any());
  EXPECT_EQ(plan.products.begin()->second.a.load, -1);
}

TEST(Hopper, a_store_in_the_loop_to_what_may_be_loaded_keeps_the_loads_where_they_are) {
  std::string store = R"(    %z = constant 0.0 : tile<64x256xf16>
    descriptor_store %db, %z, %k, %n : desc<64x256xf16>, tile<64x256xf16>
)";
  EXPECT_NE(reason_of(matmul("num_warps = 8, math_mode = relaxed", "%K", store)).find("may write"),
            std::string::npos);
}

TEST(Hopper, the_lowered_kernel_is_well_formed_and_its_ring_takes_what_room_there_is) {
  std::unique_ptr<ir::Function> tile =
      parse(matmul("num_warps = 8, math_mode = relaxed, arrays_disjoint"));
  SimtTarget target = hopper();
  LoweringReport report;
  std::unique_ptr<ir::Function> function = lower(*tile, target, report);
  std::vector<std::string> mistakes = ir::verify(*function);
  EXPECT_TRUE(mistakes.empty()) << mistakes.front() << "\n" << ir::print(*function);
  int64_t taken = transforms::place_shared_memory(*function, target.shared_bytes);
  EXPECT_EQ(taken, 2 * 2 * 8192);  // two groups, two panels of the result
  transforms::place_rings(*function, taken, target.shared_bytes);
  std::string text = ir::print(*function);
  EXPECT_NE(text.find("ring {slots = 4"), std::string::npos) << text;
  EXPECT_NE(text.find("copy_out"), std::string::npos);
  std::unique_ptr<ir::Function> again = ir::parse(text);
  EXPECT_EQ(ir::print(*again), text);
}

TEST(Hopper, a_product_lies_as_the_instruction_leaves_it) {
  GroupTile group = *group_tile(128, 256, 3);
  LinearLayout layout = wgmma_layout(std::vector<int64_t>{128, 256}, group, 3);
  const layout::Space& in = layout.in();
  for (int64_t warp = 0; warp < 8; ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t r = 0; r < 128; ++r) {
        std::pair<Dim, int64_t> at[] = {
            {Dim::kRegister, r}, {Dim::kLane, lane}, {Dim::kWarp, warp}};
        uint64_t place = layout.apply(in.pack(at));
        int64_t row = warp * 16 + lane / 4 + (r & 2 ? 8 : 0);
        int64_t column = r / 4 * 8 + lane % 4 * 2 + (r & 1);
        ASSERT_EQ(layout.out().coordinate(place, layout::axis_dim(0)), row);
        ASSERT_EQ(layout.out().coordinate(place, layout::axis_dim(1)), column);
      }
}

}  // namespace
}  // namespace enceladus::simt
