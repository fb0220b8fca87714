// A kernel's optimized tile IR to the artifact of the CUDA target: SIMT IR, its passes, text. The
// text compiles for sm_80 and later; machine code is made from it by the runtime (NVRTC).
#pragma once

#include <functional>
#include <string_view>

#include "ir/ir.h"
#include "support/artifact.h"

namespace enceladus::cuda {

struct CudaOptions {
  // Called with the SIMT IR after the lowering and after each pass.
  std::function<void(const ir::Function&, std::string_view pass)> after_pass;
};

// Changes `tile`, and fills in entry, num_warps, shared_bytes and the stages "simt" and "cuda".
// Throws CompilationFailure for what the target has not.
Artifact compile_cuda(ir::Function& tile, const CudaOptions& options = {});

}  // namespace enceladus::cuda
