// A compiled kernel of the CPU target: an entry point, the code that it lies in, and what is known
// of its cost.
#pragma once

#include <functional>
#include <memory>

#include "runtime/common/kernel.h"
#include "support/cpu_abi.h"

namespace enceladus::cpu {

struct LoadedCode {
  CpuEntry entry = nullptr;
  std::shared_ptr<const void> owner;  // keeps the code mapped
};

// How object code becomes callable is known to the code generator, which the runtime does not see:
// it (or a test) says how, once, before the first Device::load.
using CodeLoader = std::function<LoadedCode(const Artifact&)>;
void set_code_loader(CodeLoader loader);

// Loads an artifact with the code loader. Throws std::runtime_error where there is none.
Ref<Kernel> load_kernel(Artifact artifact);

class CpuKernel : public Kernel {
 public:
  CpuKernel(Artifact artifact, LoadedCode code);
  CpuEntry entry() const { return code_.entry; }

  // Time of one program on one thread: measured once the kernel has run, guessed from the
  // compiler's counts before. Only under the stream's consumer lock.
  double nanoseconds_per_program() const { return nanoseconds_per_program_; }
  void learn(double nanoseconds);
  bool has_run() const { return has_run_; }

 private:
  LoadedCode code_;
  double nanoseconds_per_program_;
  bool has_run_ = false;
};

}  // namespace enceladus::cpu
