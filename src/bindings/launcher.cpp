#include "bindings/launcher.h"

#include "bindings/devices.h"
#include "bindings/host_memory.h"
#include "bindings/launch_arguments.h"
#include "bindings/launch_environment.h"
#include "bindings/launch_errors.h"
#include "bindings/launch_frameworks.h"
#include "bindings/launch_specialize.h"
#include "bindings/launch_submit.h"
#include "bindings/mlx_view.h"
#include "bindings/tensor.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

thread_local bool waiting_forbidden = false;
bool numpy_asynchronous = false;  // under the interpreter lock

bool chosen(int8_t own, bool environment) { return own < 0 ? environment : own != 0; }

Grid evaluate_grid(const KernelState& kernel, const GridSource& grid, const BoundCall& bound) {
  if (grid.function == nullptr) return grid.extents;
  nb::dict meta = bound_dict(kernel, bound);
  nb::object result = nb::steal(PyObject_CallOneArg(grid.function, meta.ptr()));
  if (!result.is_valid()) raise_set_error();
  return parse_grid(result.ptr(), kernel.name, "the grid function's result");
}

void interpret(PyObject* self, const KernelState& kernel, const GridSource& source,
               const BoundCall& bound) {
  Grid grid = evaluate_grid(kernel, source, bound);
  if (grid.empty()) return;
  nb::handle(self).attr("_interpret")(
      nb::make_tuple(grid.extents[0], grid.extents[1], grid.extents[2]), bound_dict(kernel, bound));
}

void check_writable(const LaunchArguments& arguments, const Artifact& artifact) {
  size_t slot = 0;
  for (size_t index = 0; index < arguments.count(); ++index) {
    const Argument& argument = arguments.argument(index);
    if (argument.kind == ArgumentKind::kConstexpr) continue;
    if (!argument.writable && argument.kind == ArgumentKind::kPointer &&
        artifact.parameters[slot].is_written)
      raise(PyExc_ValueError,
            "argument `" + artifact.parameters[slot].name + "` of `" + arguments.kernel().name +
                "` " + (argument.unwritable_reason ? argument.unwritable_reason : "is read-only") +
                ", but the kernel stores to it; pass a writable copy");
    ++slot;
  }
}

// The argument that makes the launch wait for its result; -1 where it need not.
int waiting_argument(const LaunchArguments& arguments) {
  for (ArgumentOrigin origin : {ArgumentOrigin::kOther, ArgumentOrigin::kMlx})
    if (int other = arguments.first_of(origin); other >= 0) return other;
  return numpy_asynchronous ? -1 : arguments.first_of(ArgumentOrigin::kNumpy);
}

[[noreturn]] void refuse_waiting(const LaunchArguments& arguments, size_t index) {
  const KernelState& kernel = arguments.kernel();
  std::string type = type_name(arguments.argument(index).value);
  nb::object error = nb::module_::import_("enceladus.errors").attr("EnceladusError");
  raise(error.ptr(), "kernel `" + kernel.name + "`: argument `" + kernel.parameters[index].text +
                         "` is a " + (type == "ndarray" ? "NumPy array" : type) +
                         ", so the launch waits for its result and cannot be timed; pass an "
                         "enceladus.Tensor (enceladus.from_numpy shares the memory)");
}

// Keeps arrays of other libraries alive until the launch has run. Tensors do so themselves.
void hold_arrays(LaunchArguments& arguments, ArgumentOrigin origin) {
  if (arguments.first_of(origin) < 0) return;
  for (size_t index = 0; index < arguments.count(); ++index) {
    const Argument& argument = arguments.argument(index);
    if (argument.kind == ArgumentKind::kPointer && argument.origin == origin)
      arguments.add_resource(hold_array(argument.value));
  }
}

Launch launch_request(const LaunchArguments& arguments, Kernel& kernel, const Grid& grid) {
  Launch request;
  request.kernel = &kernel;
  request.parameters = {arguments.slots(), arguments.slot_count()};
  request.extents = {arguments.extents(), 2 * arguments.slot_count()};
  request.grid = {static_cast<int32_t>(grid.extents[0]), static_cast<int32_t>(grid.extents[1]),
                  static_cast<int32_t>(grid.extents[2])};
  request.resources = {arguments.resources(), arguments.resource_count()};
  return request;
}

// The Python objects of the slots, null for scalars.
std::vector<PyObject*> slot_objects(const LaunchArguments& arguments) {
  std::vector<PyObject*> objects;
  for (size_t index = 0; index < arguments.count(); ++index) {
    const Argument& argument = arguments.argument(index);
    if (argument.kind == ArgumentKind::kConstexpr) continue;
    objects.push_back(argument.kind == ArgumentKind::kPointer ? argument.value : nullptr);
  }
  return objects;
}

void submit(LaunchArguments& arguments, const Specialization& variant, const Grid& grid,
            Device& device) {
  Launch request = launch_request(arguments, *variant.kernel, grid);
  if (device.kind() != DeviceKind::kCpu) request.host_arrays = arguments.host_arrays();
  if (!arguments.foreign_arrays().empty()) {
    request.foreign_arrays = arguments.foreign_arrays();
    return submit_on_mps(device, request, slot_objects(arguments), variant.compiled);
  }
  int waits_for = waiting_argument(arguments);
  if (waits_for >= 0 && waiting_forbidden)
    refuse_waiting(arguments, static_cast<size_t>(waits_for));
  // PyTorch's own CPU operations do not wait for ours; on CUDA both are in one stream.
  bool waits = waits_for >= 0 || (arguments.first_of(ArgumentOrigin::kTorch) >= 0 &&
                                  device.kind() != DeviceKind::kCuda);
  const WrappedArrays memory(arguments.host_objects(), device);
  request.host_memory = memory.buffers();
  request.native_stream = arguments.native_stream();
  Stream& stream = device.default_stream();
  if (waits && !stream.may_take_long(request))
    return submit_launch(stream, request, Submission::kWaits);
  hold_arrays(arguments, ArgumentOrigin::kNumpy);
  if (waits) hold_arrays(arguments, ArgumentOrigin::kTorch);
  request.resources = {arguments.resources(), arguments.resource_count()};
  submit_launch(stream, request, waits ? Submission::kQueuesAndWaits : Submission::kQueues);
}

// Where the arrays are, else the current device. A torch tensor on the CPU does not take a launch
// away from a Metal device that was meant.
Device& device_of(const LaunchArguments& arguments) {
  if (arguments.device() == nullptr) return current_device();
  const int torch = arguments.first_of(ArgumentOrigin::kTorch);
  if (torch < 0 || arguments.device()->kind() != DeviceKind::kCpu) return *arguments.device();
  const Device& current = current_device();
  if (!is_metal(current)) return *arguments.device();
  const KernelState& kernel = arguments.kernel();
  raise(PyExc_ValueError,
        "argument `" + kernel.parameters[static_cast<size_t>(torch)].text + "` of `" + kernel.name +
            "` is a torch tensor on the CPU, but the current device is " + current.name() +
            "; pass x.to(\"mps\")" +
            (current.kind() == DeviceKind::kMetal ? "" : " on a Mac, x.numpy() here") +
            ", or launch inside `with enceladus.device(\"cpu\")`");
}

}  // namespace

bool set_waiting_forbidden(bool forbidden) { return std::exchange(waiting_forbidden, forbidden); }

bool set_numpy_asynchronous(bool asynchronous) {
  return std::exchange(numpy_asynchronous, asynchronous);
}

void launch(PyObject* self, const GridSource& source, const CallArguments& call) {
  KernelState& kernel = state_of(self);
  LaunchSwitches switches = read_launch_switches();
  BoundCall bound(kernel.parameters.size());
  bind_call(kernel, call, bound);
  if (chosen(kernel.interpret, switches.interpret)) return interpret(self, kernel, source, bound);

  LaunchArguments arguments(kernel, bound, StandIns::kRefused);
  KeyWriter key;
  arguments.classify(key);
  Device& device = device_of(arguments);
  Grid grid = evaluate_grid(kernel, source, bound);
  check_grid_limits(grid, device.grid_limits(), kernel.name, device.name());
  if (grid.empty()) return;

  bool debug = chosen(kernel.debug, switches.debug);
  std::shared_ptr<Specialization> variant = find_or_specialize(
      self, kernel, arguments, key, {bound.options, device, debug, Purpose::kLaunch});
  check_writable(arguments, variant->kernel->artifact());
  if (arguments.first_of(ArgumentOrigin::kMlx) >= 0 && mlx_is_lazy()) {
    const Launch request = launch_request(arguments, *variant->kernel, grid);
    if (is_metal(device) && join_mlx_graph(request, slot_objects(arguments), variant->compiled))
      return;
    const MlxEagerly eagerly;
    return launch(self, source, call);
  }
  submit(arguments, *variant, grid, device);
}

nb::object prepare(PyObject* self, const CallArguments& call) {
  KernelState& kernel = state_of(self);
  LaunchSwitches switches = read_launch_switches();
  BoundCall bound(kernel.parameters.size());
  bind_call(kernel, call, bound);
  LaunchArguments arguments(kernel, bound, StandIns::kAccepted);
  KeyWriter key;
  arguments.classify(key);
  Device& device = device_of(arguments);
  bool debug = chosen(kernel.debug, switches.debug);
  return find_or_specialize(self, kernel, arguments, key,
                            {bound.options, device, debug, Purpose::kWarmup})
      ->compiled;
}

}  // namespace enceladus
