// From MSL text to a shared object that the simulator can load: clang parses the text as C++ for
// OpenCL with our `metal_stdlib`, the IR is rewritten (ir_rewrite.h), clang compiles it with the
// instrumentation of ThreadSanitizer (whose functions are ours) and lld links it. Finished objects
// are kept by a hash of text, headers and flags. Does not load or run anything.
#pragma once

#include <string>
#include <string_view>

#include "simulator/kernel_signature.h"

namespace enceladus::simulator {

struct CompileOptions {
  std::string cache_directory;  // empty: $ENCELADUS_CACHE_DIR or ~/.cache/enceladus
  int language_version = 310;   // __METAL_VERSION__: 310 is MSL 3.1
};

struct CompiledMsl {
  KernelSignature signature;
  std::string object_path;  // of the shared object; debug information names the text "kernel.metal"
};

// The name that debug information gives to the MSL text.
inline constexpr std::string_view kMslFileName = "kernel.metal";

// Parses the text as Apple's compiler would, as far as our headers can tell. Throws MslError, or
// SimulatorUnavailable when there is no clang.
void check_msl(const std::string& msl, const CompileOptions& options);

CompiledMsl compile_msl(const std::string& msl, const std::string& entry,
                        const CompileOptions& options);

}  // namespace enceladus::simulator
