// Tile IR to the text of an Apple GPU's kernel, for the device and for its simulator.
#include "codegen/metal/compile_metal.h"

#include "ir/verifier.h"
#include "pipeline/targets.h"
#include "support/check.h"

namespace enceladus::pipeline {

Artifact compile_metal(const ir::Function& function, const CompileOptions& options,
                       Stopwatch& stopwatch) {
  metal::MetalOptions metal_options;
  metal_options.after_pass = [&](const ir::Function& simt, std::string_view pass) {
    stopwatch.lap(std::string(pass));
    if (options.verification == Verification::kAfterEveryPass) check_well_formed(simt, pass);
  };
  Artifact artifact = metal::compile_metal(function, metal_options);
  stopwatch.lap("msl");
  if (!options.override_text.empty()) artifact.stages.back().second = options.override_text;
  return artifact;
}

}  // namespace enceladus::pipeline
