#include "codegen/cuda/compile_cuda.h"

#include "codegen/cuda/kernel_text.h"
#include "codegen/cuda/target.h"
#include "codegen/cuda/tensor_maps.h"
#include "ir/printer.h"
#include "lowering/tile_to_simt/tile_to_simt.h"
#include "transforms/barriers.h"
#include "transforms/cse.h"
#include "transforms/rings.h"
#include "transforms/shared_memory.h"

namespace enceladus::cuda {
namespace {

struct Placed {
  std::unique_ptr<ir::Function> function;
  int64_t shared_bytes = 0;
};

Placed lower_and_place(const ir::Function& tile, const simt::SimtTarget& target,
                       const CudaOptions& options) {
  auto report = [&](const ir::Function& function, std::string_view pass) {
    if (options.after_pass) options.after_pass(function, pass);
  };
  Placed placed{simt::lower(tile, target)};
  report(*placed.function, "tile_to_simt");
  transforms::merge_common_subexpressions(*placed.function);
  report(*placed.function, "cse");
  int64_t buffers = transforms::place_shared_memory(*placed.function, target.shared_bytes);
  placed.shared_bytes = transforms::place_rings(*placed.function, buffers, target.shared_bytes);
  report(*placed.function, "shared_memory");
  return placed;
}

// Without rings where they take more room than there is.
Placed lower_and_place(const ir::Function& tile, const CudaOptions& options) {
  const simt::SimtTarget& target = simt_target();
  try {
    return lower_and_place(tile, target, options);
  } catch (const CompilationFailure&) {
    simt::SimtTarget plain = target;
    plain.has_wgmma = false;
    return lower_and_place(tile, plain, options);
  }
}

}  // namespace

Artifact compile_cuda(const ir::Function& tile, const CudaOptions& options) {
  auto report = [&](const ir::Function& function, std::string_view pass) {
    if (options.after_pass) options.after_pass(function, pass);
  };
  auto [simt, shared_bytes] = lower_and_place(tile, options);
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
  artifact.stages.emplace_back("simt", ir::print(*simt, {.source_lines = true}));
  artifact.stages.emplace_back("cuda", std::move(kernel.text));
  return artifact;
}

}  // namespace enceladus::cuda
