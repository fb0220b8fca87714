// A kernel's optimized tile IR to the artifact of the Metal targets: SIMT IR, its passes, text. The
// text is the same for `metal` and `metal-sim`.
#pragma once

#include <functional>
#include <string_view>

#include "ir/ir.h"
#include "support/artifact.h"

namespace enceladus::metal {

struct MetalOptions {
  int gpu_family = 9;        // as in MTLGPUFamilyApple9
  bool has_matmul2d = true;  // whether Metal Performance Primitives' matmul2d runs there
  // Called with the SIMT IR after the lowering and after each pass.
  std::function<void(const ir::Function&, std::string_view pass)> after_pass = {};
};

// Fills in entry, num_warps, shared_bytes and the stages "simt" and "msl". Throws
// CompilationFailure for what the target has not.
Artifact compile_metal(const ir::Function& tile, const MetalOptions& options = {});

}  // namespace enceladus::metal
