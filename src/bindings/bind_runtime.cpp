// Devices, waiting, events and random numbers for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "bindings/devices.h"
#include "bindings/interpreter_lock.h"
#include "bindings/tensor.h"
#include "runtime/cpu/device.h"

namespace enceladus {
namespace nb = nanobind;
namespace {

std::vector<std::string> names_of(const std::vector<Device*>& devices) {
  std::vector<std::string> names;
  for (Device* device : devices) names.push_back(device->name());
  return names;
}

void synchronize(const std::string& name) {
  Stream& stream = find_device(name).default_stream();
  wait_for_stream(stream, stream.newest());
}

// An event as Python holds it.
class PythonEvent {
 public:
  void record() {
    Device& device = current_device();
    const InterpreterUnlocked unlocked;  // the queue may be full
    event_ = device.make_event();
    device.default_stream().record(*event_);
  }
  void synchronize() const {
    check_recorded();
    wait_for_stream(*event_->last_stream(), event_->last_ticket());
  }
  double elapsed_ms(const PythonEvent& later) const {
    synchronize();
    later.synchronize();
    if (event_->last_stream() != later.event_->last_stream())
      throw nb::value_error("the events were recorded on different devices");
    return static_cast<double>(event_->nanoseconds_until(*later.event_)) * 1e-6;
  }

 private:
  void check_recorded() const {
    if (!event_) throw nb::value_error("the event has not been recorded");
  }
  Ref<Event> event_;
};

// Fills a C-contiguous tensor that nothing else uses yet.
void queue_random_fill(const TensorObject& tensor, bool normal, uint64_t seed, uint64_t offset) {
  const RandomFill fill{.data = tensor.data,
                        .dtype = tensor.dtype,
                        .distribution = normal ? Distribution::kNormal : Distribution::kUniform,
                        .seed = seed,
                        .offset = offset};
  const InterpreterUnlocked unlocked;
  tensor.device->fill_random(fill, element_count(tensor.layout), *tensor.storage);
}

void evict_caches() {
  Device& device = current_device();
  const InterpreterUnlocked unlocked;
  device.evict_caches();
}

metal::MetalStream& metal_stream(const std::string& name) {
  Device& device = find_device(name);
  if (!is_metal(device))
    throw nb::value_error(
        (name + " is no Metal device, of which alone traces are captured").c_str());
  return static_cast<metal::MetalDevice&>(device).default_stream();
}

void start_capture(const std::string& device, const std::string& path) {
  metal::MetalStream& stream = metal_stream(device);
  const InterpreterUnlocked unlocked;
  stream.start_capture(path);
}

void stop_capture(const std::string& device) {
  metal::MetalStream& stream = metal_stream(device);
  const InterpreterUnlocked unlocked;
  stream.stop_capture();
}

}  // namespace

void bind_runtime(nb::module_& module) {
  module.def("device_names", [] { return names_of(all_devices()); });
  module.def(
      "find_device", [](const std::string& name) { return find_device(name).name(); },
      nb::arg("name"));
  module.def(
      "device_description", [](const std::string& name) { return find_device(name).description(); },
      nb::arg("name"), "What compiled code and timings on a device depend on.");
  module.def("current_device", [] { return current_device().name(); });
  module.def("set_default_device",
             [](const std::string& name) { set_default_device(find_device(name)); });
  module.def("push_device", [](const std::string& name) { push_device(find_device(name)); });
  module.def("pop_device", &pop_device);
  module.def("started_devices", [] { return names_of(started_devices()); });
  module.def("device_properties",
             [](const std::string& name) { return find_device(name).properties(); });
  module.def("synchronize", &synchronize, nb::arg("device"));
  module.def("thread_count", &cpu::thread_count);
  module.def("queue_random_fill", &queue_random_fill, nb::arg("tensor"), nb::arg("normal"),
             nb::arg("seed"), nb::arg("offset"));
  module.def("evict_caches", &evict_caches);
  module.def("start_capture", &start_capture, nb::arg("device"), nb::arg("path"));
  module.def("stop_capture", &stop_capture, nb::arg("device"));
  nb::class_<PythonEvent>(module, "Event")
      .def(nb::init<>())
      .def("record", &PythonEvent::record)
      .def("synchronize", &PythonEvent::synchronize)
      .def("elapsed_ms", &PythonEvent::elapsed_ms, nb::arg("later"));
}

}  // namespace enceladus
