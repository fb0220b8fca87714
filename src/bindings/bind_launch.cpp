// The launch path's types and switches for Python, and what names this build in cache keys.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings/bindings.h"
#include "bindings/build_identity.h"
#include "bindings/launcher.h"
#include "bindings/loaded_kernel.h"
#ifdef ENCELADUS_HAS_CPU
#include "codegen/cpu/host_target.h"
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

}  // namespace

void bind_launch(nb::module_& module) {
  add_launcher_types(module);
  nb::class_<LoadedKernel>(module, "LoadedKernel");
  module.def("forbid_waiting", &set_waiting_forbidden, nb::arg("forbidden"),
             "While on, a launch of this thread that would wait for a host array raises.");
  module.def("set_async_numpy", &set_numpy_asynchronous, nb::arg("asynchronous"));
  module.def("host_identity", &host_identity,
             "Names the processor that the CPU target compiles for.");
  module.def("build_identity", &build_identity,
             "Names this build of the compiler: differs whenever its code does.");
}

}  // namespace enceladus
