// The launch path's types and switches for Python, and what names this build in cache keys.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings/bindings.h"
#include "bindings/build_identity.h"
#include "bindings/host_memory.h"
#include "bindings/interpreter_lock.h"
#include "bindings/launcher.h"
#include "bindings/loaded_kernel.h"
#include "bindings/mlx_view.h"
#include "bindings/tuned_types.h"
#ifdef ENCELADUS_HAS_CPU
#include "codegen/cpu/host_target.h"
#include "codegen/cpu/load.h"
#include "codegen/cpu/object_code.h"
#include "runtime/cpu/kernel.h"
#endif

namespace nb = nanobind;

namespace enceladus {
namespace {

std::string host_identity() {
#ifdef ENCELADUS_HAS_CPU
  const cpu::HostTarget& host = cpu::host_target();
  return host.triple + " " + host.cpu + " " + host.features;
#else
  return "";
#endif
}

// The runtime does not know how object code becomes callable; here the two meet.
void connect_cpu_loader() {
#ifdef ENCELADUS_HAS_CPU
  cpu::set_code_loader([](const Artifact& artifact) {
    cpu::CodeImage image = cpu::load_object(artifact.binary, artifact.entry);
    return cpu::LoadedCode{image.entry, std::move(image.owner)};
  });
#endif
}

std::string assembly(const std::string& llir) {
#ifdef ENCELADUS_HAS_CPU
  const InterpreterUnlocked unlocked;
  return cpu::assembly_of_text(llir);
#else
  throw std::runtime_error("this build has no CPU target");
#endif
}

}  // namespace

void bind_launch(nb::module_& module) {
  connect_cpu_loader();
  add_launcher_types(module);
  add_tuned_types(module);
  nb::class_<LoadedKernel>(module, "LoadedKernel");
  module.def("forbid_waiting", &set_waiting_forbidden, nb::arg("forbidden"),
             "While on, a launch of this thread that would wait for a host array raises.");
  module.def("set_async_numpy", &set_numpy_asynchronous, nb::arg("asynchronous"));
  module.def("set_mlx_lazy", &set_mlx_lazy, nb::arg("lazy"));
  module.def("wrapped_memory_count", &wrapped_memory_count,
             "How many arrays of the host have memory that stays wrapped for Metal.");
  module.def("assembly", &assembly, nb::arg("llir"),
             "Assembly for this machine of LLVM IR text, as kept by compiled kernels.");
  module.def("host_identity", &host_identity,
             "Names the processor that the CPU target compiles for.");
  module.def("build_identity", &build_identity,
             "Names this build of the compiler: differs whenever its code does.");
}

}  // namespace enceladus
