#include "bindings/loaded_kernel.h"

#include "bindings/interpreter_lock.h"

namespace nb = nanobind;

namespace enceladus {

Ref<Kernel> loaded_kernel(nb::handle compiled, Device& device) {
  nb::object loaded = compiled.attr("loaded");
  if (!loaded.is_none()) return nb::cast<const LoadedKernel&>(loaded).kernel;
  Artifact artifact = nb::cast<const Artifact&>(compiled.attr("artifact"));
  LoadedKernel result;
  {
    const InterpreterUnlocked unlocked;
    result.kernel = device.load(std::move(artifact));
  }
  Ref<Kernel> kernel = result.kernel;
  compiled.attr("loaded") = nb::cast(std::move(result));
  return kernel;
}

}  // namespace enceladus
