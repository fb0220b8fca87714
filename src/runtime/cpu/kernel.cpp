#include "runtime/cpu/kernel.h"

#include <stdexcept>

#include "runtime/cpu/launch_plan.h"

namespace enceladus::cpu {
namespace {

CodeLoader& code_loader() {
  static CodeLoader loader;
  return loader;
}

}  // namespace

void set_code_loader(CodeLoader loader) { code_loader() = std::move(loader); }

CpuKernel::CpuKernel(Artifact artifact, LoadedCode code)
    : Kernel(std::move(artifact)),
      code_(std::move(code)),
      nanoseconds_per_program_(estimated_nanoseconds_per_program(this->artifact())) {}

// Slowly, so that one disturbed run does not decide; a kernel's time also varies with its
// arguments.
void CpuKernel::learn(double nanoseconds) {
  const double weight = has_run_ ? 0.25 : 1.0;
  nanoseconds_per_program_ += weight * (nanoseconds - nanoseconds_per_program_);
  has_run_ = true;
}

Ref<Kernel> load_kernel(Artifact artifact) {
  if (!code_loader())
    throw std::runtime_error("this build of Enceladus cannot load CPU code (ENCELADUS_CPU=OFF)");
  LoadedCode code = code_loader()(artifact);
  return Ref<CpuKernel>::adopt(new CpuKernel(std::move(artifact), std::move(code)));
}

}  // namespace enceladus::cpu
