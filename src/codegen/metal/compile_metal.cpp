#include "codegen/metal/compile_metal.h"

#include "codegen/metal/kernel_text.h"
#include "codegen/metal/target.h"
#include "ir/printer.h"
#include "lowering/tile_to_simt/tile_to_simt.h"
#include "transforms/barriers.h"
#include "transforms/cse.h"
#include "transforms/shared_memory.h"

namespace enceladus::metal {
namespace {

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

}  // namespace

Artifact compile_metal(const ir::Function& tile, const MetalOptions& options) {
  auto report = [&](const ir::Function& function, std::string_view pass) {
    if (options.after_pass) options.after_pass(function, pass);
  };
  check_available(tile);
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
  artifact.target = "metal";
  artifact.kernel = tile.name();
  artifact.entry = kernel.entry;
  artifact.num_warps = tile.options().num_warps;
  artifact.shared_bytes = shared_bytes;
  artifact.stages.emplace_back("simt", ir::print(*simt, {.source_lines = true}));
  artifact.stages.emplace_back("msl", std::move(kernel.text));
  return artifact;
}

}  // namespace enceladus::metal
