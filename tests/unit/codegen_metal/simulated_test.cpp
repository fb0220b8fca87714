// Emitted text under the simulator: every golden is accepted by its frontend, and a kernel runs
// with the right results and no report.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/metal/compile_metal.h"
#include "ir/parser.h"
#include "simulator/errors.h"
#include "simulator/simulated_kernel.h"
#include "transforms/tile_passes.h"

namespace enceladus::metal {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(SimulatedTest, goldens_are_accepted) {
  for (const auto& entry : fs::directory_iterator(ENCELADUS_METAL_GOLDENS)) {
    if (entry.path().extension() != ".metal") continue;
    try {
      simulator::check_msl(read(entry.path()), {});
    } catch (const simulator::MslError& error) {
      ADD_FAILURE() << entry.path() << ": " << error.what();
    }
  }
}

// Sums of rows of up to 256 columns with four warps: a mask, and an exchange of the warps' sums
// through shared memory.
constexpr const char* kRowSums = R"(
kernel @rows(%x: ptr<f32> {aligned_16}, %out: ptr<f32> {aligned_16}, %n: i32) {num_warps = 4, math_mode = relaxed, arrays_disjoint, arrays_small} {
  %row = program_id {axis = 0} : i32
  %start = mul %row, %n : i32
  %columns = arange {start = 0} : tile<256xi32>
  %limit = splat %n : i32 -> tile<256xi32>
  %mask = lt %columns, %limit : tile<256xi32>
  %base = addptr %x, %start : ptr<f32>, i32
  %bases = splat %base : ptr<f32> -> tile<256xptr<f32>>
  %pointers = addptr %bases, %columns : tile<256xptr<f32>>, tile<256xi32>
  %zero = constant 0.0 : f32
  %zeros = splat %zero : f32 -> tile<256xf32>
  %values = load %pointers, mask = %mask, other = %zeros : tile<256xptr<f32>>
  %sum = reduce %values {combine = add, axis = 0} : tile<256xf32> -> f32
  %place = addptr %out, %row : ptr<f32>, i32
  store %place, %sum : ptr<f32>
}
)";

TEST(SimulatedTest, row_sums_are_right_under_every_schedule) {
  std::unique_ptr<ir::Function> tile = ir::parse(kRowSums);
  transforms::optimize(*tile);
  Artifact artifact = compile_metal(*tile);
  auto kernel = simulator::SimulatedKernel::load(artifact.stages.back().second, artifact.entry, {});
  constexpr int kRows = 3, kColumns = 200;
  std::vector<float> x(kRows * kColumns), out(kRows);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17);
  int32_t columns = kColumns;
  for (auto schedule : {simulator::Schedule::kInOrder, simulator::Schedule::kReversed,
                        simulator::Schedule::kRandom}) {
    simulator::LaunchRequest request;
    request.bindings = {{0, x.data(), x.size() * sizeof(float), true, false},
                        {1, out.data(), out.size() * sizeof(float), false, false},
                        {2, &columns, sizeof columns, true, true}};
    request.grid = {kRows, 1, 1};
    request.threads = {128, 1, 1};
    request.schedule = schedule;
    for (const auto& report : kernel.run(request)) ADD_FAILURE() << to_string(report);
    for (int row = 0; row < kRows; ++row) {
      float right = 0;
      for (int i = 0; i < kColumns; ++i) right += x[row * kColumns + i];
      EXPECT_EQ(out[row], right);
    }
  }
}

}  // namespace
}  // namespace enceladus::metal
