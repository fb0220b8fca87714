// CUDA C++ text to a cubin, by NVRTC loaded with dlopen. Needs no GPU; may run on many threads at
// once.
#pragma once

#include <string>

#include "support/artifact.h"

namespace enceladus::cuda {

struct CompiledText {
  std::string cubin;
  std::string log;
  int registers = -1;  // of a thread, of the last kernel in the text
  int spills = -1;     // bytes stored
};

// `architecture` is "sm_90a". Throws DeviceFailure where there is no NVRTC, or with its messages
// where it refuses the text.
CompiledText compile_text(const std::string& text, const std::string& name,
                          const std::string& architecture);

// Loads NVRTC, if nobody has yet; throws as `compile_text`.
void load_compiler();

// Compiles a small kernel of many kinds of statements for nothing, until `compile_text` or
// `stop_warming` is called; an NVRTC before 12.8 cannot be stopped once it has begun. Throws as
// `compile_text`, also where it was stopped.
extern const char* const kWarmingText;
void warm_compiler(const std::string& architecture);
void stop_warming();

// Fills in an artifact's binary, registers and spills from its stage "cuda".
void compile_artifact(Artifact& artifact, const std::string& architecture);

}  // namespace enceladus::cuda
