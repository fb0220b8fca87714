#include "codegen/cuda/compile_cuda.h"

#include <map>
#include <string>
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
#include "transforms/defer_sums.h"
#include "transforms/group_lead.h"
#include "transforms/late_waits.h"
#include "transforms/narrow_divisions.h"
#include "transforms/narrow_offsets.h"
#include "transforms/rings.h"
#include "transforms/share_reciprocals.h"
#include "transforms/shared_memory.h"
#include "transforms/short_sigmoid.h"
#include "transforms/slice_stores.h"
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
  transforms::short_sigmoid(*placed.function);
  report(*placed.function, "short_sigmoid");
  transforms::narrow_divisions(*placed.function);
  report(*placed.function, "narrow_divisions");
  transforms::narrow_offsets(*placed.function);
  report(*placed.function, "narrow_offsets");
  transforms::merge_common_subexpressions(*placed.function);
  report(*placed.function, "cse");
  transforms::remove_dead_code(*placed.function);
  report(*placed.function, "dce");
  transforms::defer_sums(*placed.function);
  report(*placed.function, "defer_sums");
  transforms::late_waits(*placed.function);
  report(*placed.function, "late_waits");
  transforms::slice_stores(*placed.function);
  report(*placed.function, "slice_stores");
  transforms::share_reciprocals(*placed.function);
  report(*placed.function, "share_reciprocals");
  int64_t buffers =
      transforms::place_shared_memory(*placed.function, target.shared_bytes, kAmpleBytes);
  placed.shared_bytes = transforms::place_rings(*placed.function, buffers, target.shared_bytes);
  report(*placed.function, "shared_memory");
  transforms::group_lead(*placed.function);
  report(*placed.function, "group_lead");
  return placed;
}

bool has_dots(const ir::Function& tile) {
  bool found = false;
  ir::walk(tile.body(), [&](const ir::Operation* op) { found |= op->is(ir::Opcode::kDot); });
  return found;
}

// By Hopper's asynchronous units where the kernel suits them and its rings have room, which shows
// in warps of its own that load; else by instructions of single warps, whose operands are staged.
// The report then says of each dot why.
Placed lower_and_place(ir::Function& tile, const CudaOptions& options) {
  simt::SimtTarget target = simt_target();
  std::map<const ir::Operation*, std::string> refusals;
  if (has_dots(tile)) {
    try {
      Placed placed = lower_and_place(tile, target, options);
      if (kernel_threads(*placed.function) > 32 * tile.options().num_warps) return placed;
      refusals = std::move(placed.lowering.refusals);
    } catch (const CompilationFailure&) {
      // What the user did wrong is found again below; what remains is that there is no room.
      ir::walk(tile.body(), [&](const ir::Operation* op) {
        if (op->is(ir::Opcode::kDot)) refusals[op] = "its operands have no room in shared memory";
      });
    }
    choose_dot_warps(tile);
    transforms::stage_loads(tile, kStaging);
    if (options.after_pass) options.after_pass(tile, "stage_loads");
  }
  target.has_wgmma = false;
  Placed placed = lower_and_place(std::as_const(tile), target, options);
  placed.lowering.refusals = std::move(refusals);
  return placed;
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
