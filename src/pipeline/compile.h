// compile(): from the frontend's tile IR to an artifact that a device can load. The one list of
// what happens in between; each target's part is in compile_<target>.cpp. Needs no interpreter
// lock and may run on many threads at once, each with its own function.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "support/artifact.h"
#include "support/stopwatch.h"

namespace enceladus::pipeline {

enum class Verification : uint8_t { kOnce, kAfterEveryPass };

struct CompileOptions {
  std::string target = "cpu";  // "cpu", "metal", "metal-sim", "cuda"
  Verification verification = Verification::kOnce;
  std::string override_text;  // replaces what the target's emitter writes; empty: nothing does
  // metal: the device's family as in MTLGPUFamilyApple9, and whether MPP's `matmul2d` runs there
  // (Metal 4 and macOS 26). The simulator has it.
  int gpu_family = 9;
  bool has_matmul2d = true;
};

struct CompileResult {
  Artifact artifact;
  std::vector<StageTime> times;  // in order
};

// Throws CompilationFailure for what the user wrote, InternalError for our own mistakes, and
// std::runtime_error for an override text that cannot be read.
CompileResult compile(std::unique_ptr<ir::Function> function, const CompileOptions& options);

}  // namespace enceladus::pipeline
