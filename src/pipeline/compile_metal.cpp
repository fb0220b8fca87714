// Tile IR to the text of an Apple GPU's kernel, for the device and for its simulator.
#include "codegen/metal/compile_metal.h"

#include "ir/verifier.h"
#include "pipeline/targets.h"
#include "support/check.h"

namespace enceladus::pipeline {
namespace {

std::string math_mode_name(ir::MathMode mode) {
  switch (mode) {
    case ir::MathMode::kRelaxed:
      return "relaxed";
    case ir::MathMode::kFast:
      return "fast";
    case ir::MathMode::kPrecise:
      return "precise";
  }
  return "";
}

// All scalars together take one buffer, and so does what failed assertions are written to.
void check_buffers(const ir::Function& function, const Artifact& artifact) {
  constexpr int kMostBuffers = 31;
  int pointers = 0;
  for (const ir::ParameterInfo& parameter : function.parameters())
    pointers += parameter.type.is_pointer() ? 1 : 0;
  const bool has_scalars = pointers < static_cast<int>(function.parameters().size());
  const int buffers = pointers + (has_scalars ? 1 : 0) + (artifact.messages.empty() ? 0 : 1);
  if (buffers <= kMostBuffers) return;
  fail(DiagnosticId::kNotAvailableOnTarget, function.location(),
       {"a kernel of " + std::to_string(buffers) + " buffers", "Metal",
        "it takes at most " + std::to_string(kMostBuffers) +
            ", where all scalars count as one; put several arrays into one"});
}

}  // namespace

Artifact compile_metal(const ir::Function& function, const CompileOptions& options,
                       Stopwatch& stopwatch) {
  metal::MetalOptions metal_options;
  metal_options.gpu_family = options.gpu_family;
  metal_options.has_matmul2d = options.has_matmul2d;
  metal_options.after_pass = [&](const ir::Function& simt, std::string_view pass) {
    stopwatch.lap(std::string(pass));
    if (options.verification == Verification::kAfterEveryPass) check_well_formed(simt, pass);
  };
  Artifact artifact = metal::compile_metal(function, metal_options);
  artifact.math_mode = math_mode_name(function.options().math_mode);
  check_buffers(function, artifact);
  stopwatch.lap("msl");
  if (!options.override_text.empty()) artifact.stages.back().second = options.override_text;
  return artifact;
}

}  // namespace enceladus::pipeline
