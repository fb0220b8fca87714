// NVRTC made ready on a thread of its own while the driver makes its context, which takes longer:
// loading the library, first touching its code and growing its memory are a quarter to a third of
// what a small kernel's first compilation takes in a new process. Not: compiling (nvrtc.h).
#pragma once

#include <string>

namespace enceladus::cuda {

// Starts the thread, once in a process and only where there is more than one processor. Ends by
// itself; a fork waits for it. Says nothing where NVRTC is missing.
void start_compiler_early(const std::string& architecture);

// For the process's end, before exit handlers run: NVRTC registers handlers while it compiles,
// which must not run beside that.
void wait_for_early_compiler();

}  // namespace enceladus::cuda
