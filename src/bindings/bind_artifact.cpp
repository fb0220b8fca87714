// `_core.Artifact`: a compiled kernel as read-only attributes, and as bytes for the disk cache.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "support/artifact.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

nb::dict stages_of(const Artifact& artifact) {
  nb::dict stages;
  for (const auto& [name, text] : artifact.stages)
    stages[nb::str(name.data(), name.size())] = nb::str(text.data(), text.size());
  return stages;
}

nb::bytes as_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

void bind_parameter(nb::module_& module) {
  nb::class_<Parameter>(module, "ArtifactParameter")
      .def_ro("name", &Parameter::name)
      .def_prop_ro("dtype",
                   [](const Parameter& parameter) {
                     std::string_view name = info(parameter.dtype).python_name;
                     return nb::str(name.data(), name.size());
                   })
      .def_ro("is_pointer", &Parameter::is_pointer)
      .def_ro("is_read", &Parameter::is_read)
      .def_ro("is_written", &Parameter::is_written)
      .def_ro("slot", &Parameter::slot);
}

}  // namespace

void bind_artifact(nb::module_& module) {
  bind_parameter(module);
  nb::class_<Artifact>(module, "Artifact")
      .def_ro("target", &Artifact::target)
      .def_ro("kernel", &Artifact::kernel)
      .def_ro("entry", &Artifact::entry)
      .def_prop_ro("binary", [](const Artifact& artifact) { return as_bytes(artifact.binary); })
      .def_prop_ro("stages", &stages_of)
      .def_ro("parameters", &Artifact::parameters)
      .def_ro("scratch_bytes", &Artifact::scratch_bytes)
      .def_ro("shared_bytes", &Artifact::shared_bytes)
      .def_ro("num_warps", &Artifact::num_warps)
      .def_prop_ro("threads",
                   [](const Artifact& artifact) {
                     return artifact.threads ? artifact.threads : 32 * artifact.num_warps;
                   })
      .def_ro("registers", &Artifact::registers)
      .def_ro("spills", &Artifact::spills)
      .def_ro("bytes_per_program", &Artifact::bytes_per_program)
      .def_ro("operations_per_program", &Artifact::operations_per_program)
      .def_ro("walk", &Artifact::walk)
      .def_ro("needs_extents", &Artifact::needs_extents)
      .def_ro("language_version", &Artifact::language_version)
      .def_ro("logs", &Artifact::logs)
      .def_ro("messages", &Artifact::messages)
      .def_ro("warnings", &Artifact::warnings)
      .def_ro("explain", &Artifact::explain)
      .def("serialize", [](const Artifact& artifact) { return as_bytes(serialize(artifact)); })
      .def_static("deserialize", [](const nb::bytes& bytes) {
        return deserialize(std::string(bytes.c_str(), bytes.size()));
      });
}

}  // namespace enceladus
