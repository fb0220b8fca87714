// NVRTC made ready on a thread of its own, beside what must come before the first compilation
// anyway: loading the library, first touching its code and growing its memory are a quarter to a
// third of what a small kernel's first compilation takes in a new process. Nothing is started in a
// process that finds its kernels in the cache. Not: compiling (nvrtc.h), nor telling whether the
// process will (python/enceladus/_early_compiler.py).
#pragma once

#include <string>

namespace enceladus::cuda {

// Said before devices start, where the process will probably compile.
void expect_compilation();

// For the start of a device, which takes longer: where a compilation is expected, loads NVRTC and
// compiles something for nothing.
void start_compiler_early(const std::string& architecture);

// For a kernel that no cache has, in front of the frontend: loads NVRTC. That is all there is time
// for; two compilations at once would only be in each other's way.
void load_compiler_early();

// Each of the two starts a thread, of which there is one in a process, and only where there is more
// than one processor. It ends by itself; a fork waits for it, and so does the end of the thread
// that called, which for the main thread is before any handler of `exit` runs. It says nothing
// where NVRTC is missing.

// Cancels what is compiled for nothing.
void wait_for_early_compiler();

// The same for the process's end, from which on nothing is started: NVRTC registers handlers of
// `exit` while it compiles, which must not run beside that.
void end_early_compiler();

}  // namespace enceladus::cuda
