#include "codegen/metal/compile_metal.h"

#include "codegen/metal/kernel_text.h"
#include "codegen/metal/target.h"
#include "ir/printer.h"
#include "lowering/tile_to_simt/explain.h"
#include "lowering/tile_to_simt/tile_to_simt.h"
#include "transforms/barriers.h"
#include "transforms/cse.h"
#include "transforms/dce.h"
#include "transforms/narrow_offsets.h"
#include "transforms/shared_memory.h"

namespace enceladus::metal {
namespace {

// The first with neural accelerators, which only matmul2d reaches.
constexpr int kNeuralFamily = 10;

void check_available(const ir::Function& tile) {
  auto refuse = [&](const ir::Type& type, const Location& location) {
    if (type.is_none() || type.dtype() != DType::kFloat64) return;
    fail(DiagnosticId::kNotAvailableOnTarget, location, {"float64", "Metal", "use float32"});
  };
  for (const ir::ParameterInfo& parameter : tile.parameters())
    refuse(parameter.type, tile.location());
  ir::walk(tile.body(), [&](const ir::Operation* op) {
    for (const ir::Value* result : op->results()) refuse(result->type(), op->location());
    bool is_atomic = op->is(ir::Opcode::kAtomicRmw) || op->is(ir::Opcode::kAtomicCas);
    if (is_atomic && byte_size(op->result()->type().dtype()) == 8)
      fail(DiagnosticId::kNotAvailableOnTarget, op->location(),
           {"a 64-bit atomic", "Metal", "use 32 bits, or a lock of 32 bits"});
  });
}

std::vector<std::pair<std::string, std::string>> explained(const KernelText& kernel) {
  int version = kernel.language_version;
  return {
      {"language", "Metal " + std::to_string(version / 10) + "." + std::to_string(version % 10)}};
}

}  // namespace

Artifact compile_metal(const ir::Function& tile, const MetalOptions& options) {
  auto report = [&](const ir::Function& function, std::string_view pass) {
    if (options.after_pass) options.after_pass(function, pass);
  };
  check_available(tile);
  simt::SimtTarget target = simt_target();
  target.has_matmul2d = options.has_matmul2d;
  target.prefers_matmul2d = options.has_matmul2d && options.gpu_family >= kNeuralFamily;
  simt::LoweringReport lowering;
  std::unique_ptr<ir::Function> simt = simt::lower(tile, target, lowering);
  report(*simt, "tile_to_simt");
  transforms::narrow_offsets(*simt);
  report(*simt, "narrow_offsets");
  transforms::merge_common_subexpressions(*simt);
  report(*simt, "cse");
  transforms::remove_dead_code(*simt);
  report(*simt, "dce");
  int64_t shared_bytes = transforms::place_shared_memory(*simt, target.shared_bytes);
  report(*simt, "shared_memory");
  transforms::insert_barriers(*simt);
  report(*simt, "barriers");
  KernelText kernel = kernel_text(*simt, shared_bytes);
  Artifact artifact;
  artifact.target = "metal";
  artifact.kernel = tile.name();
  artifact.entry = kernel.entry;
  artifact.num_warps = tile.options().num_warps;
  artifact.shared_bytes = shared_bytes;
  artifact.stages.emplace_back("simt", ir::print(*simt, {.source_lines = true}));
  artifact.language_version = kernel.language_version;
  artifact.logs = kernel.logs;
  artifact.warnings = std::move(lowering.warnings);
  artifact.explain = simt::explain_kernel(tile, *simt, lowering, explained(kernel));
  artifact.messages = std::move(kernel.messages);
  artifact.stages.emplace_back("msl", std::move(kernel.text));
  return artifact;
}

}  // namespace enceladus::metal
