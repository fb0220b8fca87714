#include "runtime/cpu/kernel.h"

#include <stdexcept>

namespace enceladus::cpu {
namespace {

CodeLoader& code_loader() {
  static CodeLoader loader;
  return loader;
}

}  // namespace

void set_code_loader(CodeLoader loader) { code_loader() = std::move(loader); }

Ref<Kernel> load_kernel(Artifact artifact) {
  if (!code_loader())
    throw std::runtime_error("this build of Enceladus cannot load CPU code (ENCELADUS_CPU=OFF)");
  LoadedCode code = code_loader()(artifact);
  return Ref<CpuKernel>::adopt(new CpuKernel(std::move(artifact), std::move(code)));
}

}  // namespace enceladus::cpu
