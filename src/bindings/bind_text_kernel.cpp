// `_core.TextKernel`: a kernel that the user wrote in the target's own language. Python has read
// its parameters from the text and gives scalars as bits; arrays are looked at here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>

#include "bindings/argument_view.h"
#include "bindings/bindings.h"
#include "bindings/device_start.h"
#include "bindings/devices.h"
#include "bindings/host_memory.h"
#include "bindings/interpreter_lock.h"
#include "bindings/launch_errors.h"
#include "bindings/launch_frameworks.h"
#include "bindings/launch_grid.h"
#include "bindings/launch_submit.h"
#include "bindings/mlx_view.h"
#include "bindings/torch_view.h"
#include "runtime/cpu/device.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

// (name, dtype or "" for any, is_pointer, is_written, slot)
using ParameterTuple = std::tuple<std::string, std::string, bool, bool, int32_t>;

class TextKernel {
 public:
  TextKernel(const std::string& name, const std::string& source,
             const std::vector<ParameterTuple>& parameters, int32_t language_version,
             const std::string& math_mode) {
    artifact_.kernel = artifact_.entry = name;
    artifact_.stages = {{"msl", source}};
    artifact_.language_version = language_version;
    artifact_.math_mode = math_mode;
    for (const auto& [parameter, dtype, is_pointer, is_written, slot] : parameters) {
      takes_any_.push_back(dtype.empty());
      artifact_.parameters.push_back(
          {.name = parameter,
           .dtype = dtype_from_python_name(dtype).value_or(DType::kUInt8),
           .is_pointer = is_pointer,
           .is_read = is_pointer,
           .is_written = is_written,
           .slot = slot});
    }
  }

  static TextKernel cuda(const std::string& name, const std::string& source,
                         const std::vector<ParameterTuple>& parameters, int64_t shared_bytes) {
    TextKernel kernel(name, source, parameters, 0, "relaxed");
    kernel.artifact_.stages = {{"cuda", source}};
    kernel.artifact_.shared_bytes = shared_bytes;
    kernel.is_cuda_ = true;
    return kernel;
  }

  const Artifact& artifact() const { return artifact_; }
  void launch(std::array<int32_t, 3> grid, std::array<int32_t, 3> threads, const nb::list& values);

 private:
  struct Arguments {
    std::vector<uint64_t> slots;
    std::vector<uint64_t> extents;
    std::vector<uint16_t> host_arrays;
    std::vector<PyObject*> host_objects;
    std::vector<Resource*> resources;
    std::vector<Ref<Resource>> held;
    Device* device = nullptr;
    std::optional<void*> native_stream;
    std::vector<ForeignArray> foreign_arrays;
    std::vector<PyObject*> objects;
    bool waits = false;
  };
  void add_array(size_t index, PyObject* value, Arguments& arguments) const;
  Kernel& loaded(Device& device);
  std::string named(size_t index) const {
    return "argument `" + artifact_.parameters[index].name + "` of `" + artifact_.kernel + "` ";
  }

  bool runs_on(const Device& device) const {
    return is_cuda_ ? device.kind() == DeviceKind::kCuda : is_metal(device);
  }

  Artifact artifact_;
  bool is_cuda_ = false;
  std::vector<bool> takes_any_;  // pointers of a type that no dtype stands for
  std::map<Device*, Ref<Kernel>> kernels_;
};

void TextKernel::add_array(size_t index, PyObject* value, Arguments& arguments) const {
  const Parameter& parameter = artifact_.parameters[index];
  ArgumentView view;
  try {
    if (!view_argument(value, &view))
      raise(PyExc_TypeError, named(index) + "is " + short_repr(value) + ", not an array");
  } catch (const ArgumentProblem& problem) {
    raise(problem.kind() == ArgumentProblem::Kind::kType ? PyExc_TypeError : PyExc_ValueError,
          named(index) + problem.what());
  }
  if (!is_cuda_ && view.origin == ArgumentOrigin::kTorch && view.device == &cpu::device())
    raise(PyExc_ValueError, named(index) +
                                "is a torch tensor on the CPU; pass x.to(\"mps\"), or "
                                "x.numpy()");
  const bool both_bytes = byte_size(view.dtype) == 1 && byte_size(parameter.dtype) == 1 &&
                          (is_bool(view.dtype) || is_bool(parameter.dtype));
  if (!takes_any_[index] && view.dtype != parameter.dtype && !both_bytes)
    raise(PyExc_TypeError, named(index) + "has elements of " +
                               std::string(info(view.dtype).python_name) + ", but is declared " +
                               std::string(info(parameter.dtype).python_name));
  if (parameter.is_written && !view.writable)
    raise(PyExc_ValueError, named(index) +
                                (view.unwritable_reason ? view.unwritable_reason : "is read-only") +
                                ", but is not declared `const`");
  if (view.device == nullptr) {
    arguments.host_arrays.push_back(static_cast<uint16_t>(index));
    arguments.host_objects.push_back(view.array);
  } else if (arguments.device == nullptr) {
    arguments.device = view.device;
  } else if (arguments.device != view.device) {
    raise(PyExc_ValueError, named(index) + "is on " + view.device->name() +
                                ", but an earlier one is on " + arguments.device->name());
  }
  const bool is_torch = view.origin == ArgumentOrigin::kTorch && view.device;
  if (is_torch) arguments.native_stream = torch_stream(*view.device);
  const bool is_in_stream =
      view.origin == ArgumentOrigin::kTensor || (is_torch && arguments.native_stream);
  arguments.waits = arguments.waits || !is_in_stream;
  if (view.foreign_buffer)
    arguments.foreign_arrays.push_back(
        {static_cast<uint16_t>(index), view.foreign_buffer, view.foreign_offset});
  arguments.slots.push_back(reinterpret_cast<uint64_t>(view.data));
  arguments.extents.insert(arguments.extents.end(), {view.low, view.high});
  if (view.resource != nullptr) arguments.resources.push_back(view.resource);
  if (view.held) arguments.held.push_back(std::move(view.held));
}

Kernel& TextKernel::loaded(Device& device) {
  Ref<Kernel>& kernel = kernels_[&device];
  if (kernel) return *kernel;
  const DeviceStart start(device);
  if (is_cuda_) find_cuda_libraries();
  Artifact artifact = artifact_;
  artifact.target = device.name();
  Ref<Kernel> made;
  {
    const InterpreterUnlocked unlocked;
    made = device.load(std::move(artifact));
  }
  if (!kernel) kernel = std::move(made);
  return *kernel;
}

void TextKernel::launch(std::array<int32_t, 3> grid, std::array<int32_t, 3> threads,
                        const nb::list& values) {
  Arguments arguments;
  const MlxEagerly eagerly;
  for (size_t i = 0; i < artifact_.parameters.size(); ++i) {
    const bool is_array = artifact_.parameters[i].is_pointer;
    arguments.objects.push_back(is_array ? nb::handle(values[i]).ptr() : nullptr);
    if (is_array) {
      add_array(i, nb::handle(values[i]).ptr(), arguments);
      continue;
    }
    arguments.slots.push_back(nb::cast<uint64_t>(values[i]));
    arguments.extents.insert(arguments.extents.end(), {0, 0});
  }
  Device& device = arguments.device != nullptr ? *arguments.device : current_device();
  if (!runs_on(device))
    raise(PyExc_ValueError, "`" + artifact_.kernel + "` is a " + (is_cuda_ ? "CUDA" : "Metal") +
                                " kernel, but is launched on " + device.name());
  check_grid_limits({.extents = {grid[0], grid[1], grid[2]}}, device.grid_limits(),
                    artifact_.kernel, device.name());
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return;
  const WrappedArrays memory(arguments.host_objects, device);
  const Launch request{.kernel = &loaded(device),
                       .parameters = arguments.slots,
                       .extents = arguments.extents,
                       .grid = grid,
                       .threads = threads,
                       .resources = arguments.resources,
                       .host_arrays = arguments.host_arrays,
                       .host_memory = memory.buffers(),
                       .foreign_arrays = arguments.foreign_arrays,
                       .native_stream = arguments.native_stream};
  if (!arguments.foreign_arrays.empty())
    return submit_on_mps(device, request, arguments.objects, nb::find(this));
  submit_launch(device.default_stream(), request,
                arguments.waits ? Submission::kWaits : Submission::kQueues);
}

}  // namespace

void bind_text_kernel(nb::module_& module) {
  nb::class_<TextKernel>(module, "TextKernel", nb::dynamic_attr())
      .def_prop_ro(
          "artifact", [](const TextKernel& kernel) -> const Artifact& { return kernel.artifact(); },
          nb::rv_policy::reference_internal)
      .def(nb::init<const std::string&, const std::string&, const std::vector<ParameterTuple>&,
                    int32_t, const std::string&>(),
           nb::arg("name"), nb::arg("source"), nb::arg("parameters"), nb::arg("language_version"),
           nb::arg("math_mode"))
      .def_static("cuda", &TextKernel::cuda, nb::arg("name"), nb::arg("source"),
                  nb::arg("parameters"), nb::arg("shared_bytes"))
      .def("launch", &TextKernel::launch, nb::arg("grid"), nb::arg("threads"), nb::arg("values"));
}

}  // namespace enceladus
