#include "bindings/launch_frameworks.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "bindings/launch_submit.h"
#include "runtime/metal/argument_layout.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

nb::bytes packed(const metal::ScalarBlock& block, const Launch& request) {
  std::string bytes(block.bytes, '\0');
  metal::pack_scalars(block, request.parameters.data(), bytes.data());
  return nb::bytes(bytes.data(), bytes.size());
}

// What is bound to each buffer index: an array, or a block of scalars as bytes; None for a gap.
nb::list bound_values(const Launch& request, std::span<PyObject* const> objects) {
  const metal::ArgumentLayout layout = metal::layout_arguments(request.kernel->artifact());
  std::vector<nb::object> values;
  const auto place = [&](uint32_t index) -> nb::object& {
    if (index >= values.size()) values.resize(index + 1, nb::none());
    return values[index];
  };
  for (const metal::PointerArgument& pointer : layout.pointers)
    place(pointer.index) = nb::borrow(objects[pointer.parameter]);
  for (const metal::ScalarBlock& block : layout.scalars)
    place(block.index) = packed(block, request);
  nb::list list;
  for (const nb::object& value : values) list.append(value);
  return list;
}

nb::tuple grid_of(const Launch& request) {
  return nb::make_tuple(request.grid[0], request.grid[1], request.grid[2]);
}

nb::tuple threads_of(const Launch& request) {
  if (request.threads[0] == 0)
    return nb::make_tuple(32 * request.kernel->artifact().num_warps, 1, 1);
  return nb::make_tuple(request.threads[0], request.threads[1], request.threads[2]);
}

// Whether the framework took the launch; `module` makes and `slot` keeps its form of the kernel.
bool launch_by(const char* module, const char* slot, const Launch& request,
               std::span<PyObject* const> objects, nb::handle compiled) {
  nb::object prepared = nb::getattr(compiled, slot, nb::none());
  if (prepared.is_none()) {
    prepared = nb::module_::import_(module).attr("prepare")(compiled.attr("artifact"));
    nb::setattr(compiled, slot, prepared);
  }
  return nb::cast<bool>(prepared.attr("launch")(bound_values(request, objects), grid_of(request),
                                                threads_of(request)));
}

}  // namespace

void submit_on_mps(Device& device, const Launch& request, std::span<PyObject* const> objects,
                   nb::handle compiled) {
  constexpr const char* kModule = "enceladus.interop.mps";
  if (launch_by(kModule, "mps_kernel", request, objects, compiled)) return;
  nb::module_::import_(kModule).attr("synchronize")();
  submit_launch(device.default_stream(), request, Submission::kWaits);
}

bool join_mlx_graph(const Launch& request, std::span<PyObject* const> objects,
                    nb::handle compiled) {
  return launch_by("enceladus.interop.mlx", "mlx_kernel", request, objects, compiled);
}

}  // namespace enceladus
