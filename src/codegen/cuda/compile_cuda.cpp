#include "codegen/cuda/compile_cuda.h"

#include "codegen/cuda/kernel_text.h"
#include "codegen/cuda/target.h"
#include "ir/printer.h"
#include "lowering/tile_to_simt/tile_to_simt.h"
#include "transforms/barriers.h"
#include "transforms/cse.h"
#include "transforms/shared_memory.h"

namespace enceladus::cuda {

Artifact compile_cuda(const ir::Function& tile, const CudaOptions& options) {
  auto report = [&](const ir::Function& function, std::string_view pass) {
    if (options.after_pass) options.after_pass(function, pass);
  };
  std::unique_ptr<ir::Function> simt = simt::lower(tile, simt_target());
  report(*simt, "tile_to_simt");
  transforms::merge_common_subexpressions(*simt);
  report(*simt, "cse");
  int64_t shared_bytes = transforms::place_shared_memory(*simt, simt_target().shared_bytes);
  report(*simt, "shared_memory");
  transforms::insert_barriers(*simt);
  report(*simt, "barriers");
  KernelText kernel = kernel_text(*simt, shared_bytes);
  Artifact artifact;
  artifact.target = "cuda";
  artifact.kernel = tile.name();
  artifact.entry = kernel.entry;
  artifact.num_warps = tile.options().num_warps;
  artifact.shared_bytes = shared_bytes;
  artifact.stages.emplace_back("simt", ir::print(*simt, {.source_lines = true}));
  artifact.stages.emplace_back("cuda", std::move(kernel.text));
  return artifact;
}

}  // namespace enceladus::cuda
