#include "codegen/cuda/compile_cuda.h"

#include <utility>

#include "codegen/cuda/dot_warps.h"
#include "codegen/cuda/kernel_text.h"
#include "codegen/cuda/target.h"
#include "codegen/cuda/tensor_maps.h"
#include "ir/printer.h"
#include "lowering/tile_to_simt/access.h"
#include "lowering/tile_to_simt/explain.h"
#include "lowering/tile_to_simt/tile_to_simt.h"
#include "transforms/barriers.h"
#include "transforms/cse.h"
#include "transforms/dce.h"
#include "transforms/narrow_offsets.h"
#include "transforms/rings.h"
#include "transforms/shared_memory.h"
#include "transforms/stage_loads.h"

namespace enceladus::cuda {
namespace {

bool reads_stages(const ir::Operation& dot) { return simt_target().matrix_use(dot).has_value(); }

// Two programs of a processor find room for their rings.
constexpr transforms::StagingLimits kStaging{.bytes = 112 * 1024,
                                             .default_stages = 3,
                                             .reads_stages = reads_stages,
                                             .is_copied = simt::can_copy_async};

// Shared memory that leaves room for as many programs as a processor runs at once.
constexpr int64_t kAmpleBytes = 24 * 1024;

struct Placed {
  std::unique_ptr<ir::Function> function;
  int64_t shared_bytes = 0;
  simt::LoweringReport lowering;
};

Placed lower_and_place(const ir::Function& tile, const simt::SimtTarget& target,
                       const CudaOptions& options) {
  auto report = [&](const ir::Function& function, std::string_view pass) {
    if (options.after_pass) options.after_pass(function, pass);
  };
  Placed placed;
  placed.function = simt::lower(tile, target, placed.lowering);
  report(*placed.function, "tile_to_simt");
  transforms::narrow_offsets(*placed.function);
  report(*placed.function, "narrow_offsets");
  transforms::merge_common_subexpressions(*placed.function);
  report(*placed.function, "cse");
  transforms::remove_dead_code(*placed.function);
  report(*placed.function, "dce");
  int64_t buffers =
      transforms::place_shared_memory(*placed.function, target.shared_bytes, kAmpleBytes);
  placed.shared_bytes = transforms::place_rings(*placed.function, buffers, target.shared_bytes);
  report(*placed.function, "shared_memory");
  return placed;
}

bool has_dots(const ir::Function& tile) {
  bool found = false;
  ir::walk(tile.body(), [&](const ir::Operation* op) { found |= op->is(ir::Opcode::kDot); });
  return found;
}

// By Hopper's asynchronous units where the kernel suits them and its rings have room, which shows
// in warps of its own that load; else by instructions of single warps, whose operands are staged.
Placed lower_and_place(ir::Function& tile, const CudaOptions& options) {
  simt::SimtTarget target = simt_target();
  if (has_dots(tile)) {
    try {
      Placed placed = lower_and_place(tile, target, options);
      if (kernel_threads(*placed.function) > 32 * tile.options().num_warps) return placed;
    } catch (const CompilationFailure&) {
      // What the user did wrong is found again below.
    }
    choose_dot_warps(tile);
    transforms::stage_loads(tile, kStaging);
    if (options.after_pass) options.after_pass(tile, "stage_loads");
  }
  target.has_wgmma = false;
  return lower_and_place(std::as_const(tile), target, options);
}

}  // namespace

Artifact compile_cuda(ir::Function& tile, const CudaOptions& options) {
  auto report = [&](const ir::Function& function, std::string_view pass) {
    if (options.after_pass) options.after_pass(function, pass);
  };
  auto [simt, shared_bytes, lowering] = lower_and_place(tile, options);
  transforms::insert_barriers(*simt);
  report(*simt, "barriers");
  KernelText kernel = kernel_text(*simt, shared_bytes);
  Artifact artifact;
  artifact.target = "cuda";
  artifact.kernel = tile.name();
  artifact.entry = kernel.entry;
  artifact.num_warps = tile.options().num_warps;
  artifact.shared_bytes = shared_bytes;
  artifact.threads = kernel_threads(*simt);
  for (const ir::Operation* map : tensor_map_operations(*simt))
    artifact.tensor_maps.push_back(tensor_map_of(*map));
  ir::walk(simt->body(), [&](const ir::Operation* op) {
    artifact.is_persistent |= op->is(ir::Opcode::kResident);
  });
  artifact.messages = std::move(kernel.messages);
  artifact.warnings = std::move(lowering.warnings);
  artifact.explain = simt::explain_kernel(tile, *simt, lowering, {});
  artifact.stages.emplace_back("simt", ir::print(*simt, {.source_lines = true}));
  artifact.stages.emplace_back("cuda", std::move(kernel.text));
  return artifact;
}

}  // namespace enceladus::cuda
