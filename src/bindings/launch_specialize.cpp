#include "bindings/launch_specialize.h"

#include <nanobind/stl/string.h>

#include <string>

#include "bindings/device_start.h"
#include "bindings/interpreter_lock.h"
#include "bindings/launch_errors.h"
#include "bindings/loaded_kernel.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

nb::str python_name(DType dtype) {
  std::string_view name = info(dtype).python_name;
  return nb::str(name.data(), name.size());
}

// One tuple for each parameter, as `_core.compile` takes them.
nb::list argument_specs(const LaunchArguments& arguments) {
  nb::list specs;
  for (size_t index = 0; index < arguments.count(); ++index) {
    const nb::object& name = arguments.kernel().parameters[index].name;
    const Argument& argument = arguments.argument(index);
    bool divisible = (argument.facts & kFactDivisibleBy16) != 0;
    switch (argument.kind) {
      case ArgumentKind::kConstexpr:
        specs.append(nb::make_tuple(name, "constexpr", nb::handle(argument.value)));
        break;
      case ArgumentKind::kScalar:
        specs.append(nb::make_tuple(name, "scalar", python_name(argument.dtype), divisible,
                                    (argument.facts & kFactEqualTo1) != 0));
        break;
      case ArgumentKind::kPointer:
        specs.append(nb::make_tuple(name, "pointer", python_name(argument.dtype), divisible));
        break;
    }
  }
  return specs;
}

void merge_written(KernelState& kernel, const LaunchArguments& arguments,
                   const Artifact& artifact) {
  kernel.written.resize(kernel.parameters.size());
  kernel.written_known = true;
  size_t slot = 0;
  for (size_t index = 0; index < arguments.count(); ++index) {
    if (arguments.argument(index).kind == ArgumentKind::kConstexpr) continue;
    if (artifact.parameters.at(slot).is_written) kernel.written[index] = true;
    ++slot;
  }
}

// Whether what the variant was compiled from still means the same.
bool is_current(Specialization& variant) {
  if (!variant.dependencies.unchanged()) return false;
  return !variant.must_ask || nb::cast<bool>(variant.compiled.attr("is_current")());
}

std::shared_ptr<Specialization> specialize(PyObject* self, KernelState& kernel,
                                           const LaunchArguments& arguments, std::string_view key,
                                           bool disjoint, const CompileRequest& request) {
  const BeforeInterpreterEnds section;
  const DeviceStart start(request.device);
  nb::dict options = options_dict(request.options);
  options["debug"] = request.debug;
  options["arrays_disjoint"] = disjoint;
  options["arrays_small"] = arguments.arrays_small();
  options["device"] = request.device.name();
  if (const std::string architecture = request.device.architecture(); !architecture.empty())
    options["architecture"] = architecture;
  std::string own_key(key);  // `key` is the caller's, but Python code runs from here on
  nb::object compiled = nb::handle(self).attr("_specialize")(
      nb::bytes(own_key.data(), own_key.size()), argument_specs(arguments), options,
      request.purpose == Purpose::kLaunch);
  auto specialization = std::make_shared<Specialization>();
  specialization->kernel = loaded_kernel(compiled, request.device);
  specialization->dependencies.assign(compiled.attr("dependencies"));
  specialization->must_ask = nb::cast<bool>(compiled.attr("has_mutable_dependencies"));
  specialization->compiled = compiled;
  specialization->key = std::move(own_key);
  merge_written(kernel, arguments, specialization->kernel->artifact());
  kernel.table.insert(specialization);
  return specialization;
}

}  // namespace

std::shared_ptr<Specialization> find_or_specialize(PyObject* self, KernelState& kernel,
                                                   const LaunchArguments& arguments, KeyWriter& key,
                                                   const CompileRequest& request) {
  request.options.write(key);
  key.word(reinterpret_cast<uint64_t>(&request.device));
  key.byte(request.debug);
  key.byte(arguments.arrays_small());
  size_t disjoint_position = key.size();
  key.byte(0);
  for (;;) {
    bool disjoint = arguments.arrays_disjoint();
    key.patch(disjoint_position, disjoint);
    std::shared_ptr<Specialization> known = kernel.table.find(key.view());
    if (known != nullptr && is_current(*known)) return known;
    std::shared_ptr<Specialization> made =
        specialize(self, kernel, arguments, key.view(), disjoint, request);
    // What the new code writes may settle whether the arrays are disjoint, either way.
    if (arguments.arrays_disjoint() == disjoint) return made;
  }
}

}  // namespace enceladus
