// Tile IR to the text of an NVIDIA GPU's kernel; the runtime makes machine code from it.
#include "codegen/cuda/compile_cuda.h"

#include "pipeline/targets.h"

namespace enceladus::pipeline {

Artifact compile_cuda(ir::Function& function, const CompileOptions& options, Stopwatch& stopwatch) {
  cuda::CudaOptions cuda_options;
  cuda_options.after_pass = [&](const ir::Function& simt, std::string_view pass) {
    stopwatch.lap(std::string(pass));
    if (options.verification == Verification::kAfterEveryPass) check_well_formed(simt, pass);
  };
  Artifact artifact = cuda::compile_cuda(function, cuda_options);
  stopwatch.lap("cuda");
  if (!options.override_text.empty()) artifact.stages.back().second = options.override_text;
  return artifact;
}

}  // namespace enceladus::pipeline
