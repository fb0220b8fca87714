// Devices, waiting and events for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "bindings/devices.h"
#include "bindings/tensor.h"

namespace enceladus {
namespace nb = nanobind;
namespace {

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (Device* device : all_devices()) names.push_back(device->name());
  return names;
}

void synchronize(const std::string& name) {
  Stream& stream = find_device(name).default_stream();
  wait_for_stream(stream, stream.newest());
}

}  // namespace

void bind_runtime(nb::module_& module) {
  module.def("device_names", &device_names);
  module.def(
      "find_device", [](const std::string& name) { return find_device(name).name(); },
      nb::arg("name"));
  module.def("current_device", [] { return current_device().name(); });
  module.def("set_default_device",
             [](const std::string& name) { set_default_device(find_device(name)); });
  module.def("push_device", [](const std::string& name) { push_device(find_device(name)); });
  module.def("pop_device", &pop_device);
  module.def("synchronize", &synchronize, nb::arg("device"));
}

}  // namespace enceladus
