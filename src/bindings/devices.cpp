#include "bindings/devices.h"

#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "bindings/interpreter_lock.h"
#include "runtime/cpu/device.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/early_compiler.h"
#include "runtime/cuda/library.h"
#include "runtime/metal/device.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

std::atomic<Device*> chosen_default{nullptr};
thread_local std::vector<Device*> overrides;

bool is_known_kind(const std::string& name) {
  const std::string kind = name.substr(0, name.find(':'));
  return kind == "cpu" || kind == "cuda" || kind == "metal" || kind == "metal-sim";
}

// The simulator's Metal, which lies beside this extension; empty where it was not built.
std::string simulator_library() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&is_known_kind), &info) == 0) return "";
  const std::string own_path = info.dli_fname;
  const std::string path =
      own_path.substr(0, own_path.rfind('/') + 1) + "libenceladus_metal_sim.so";
  return access(path.c_str(), R_OK) == 0 ? path : "";
}

std::vector<metal::MetalDevice*> make_metal_devices() {
  std::vector<metal::MetalDevice*> devices;
#ifdef __APPLE__
  if (metal::is_metal_present())
    devices.push_back(new metal::MetalDevice(DeviceKind::kMetal, metal::apple_frameworks()));
#endif
  if (const std::string library = simulator_library(); !library.empty())
    devices.push_back(
        new metal::MetalDevice(DeviceKind::kMetalSim, metal::simulator_framework(library)));
  return devices;
}

const std::vector<metal::MetalDevice*>& metal_devices() {
  static const std::vector<metal::MetalDevice*> devices = [] {
    pthread_atfork(nullptr, nullptr, [] {
      for (metal::MetalDevice* device : metal_devices()) device->abandon();
    });
    return make_metal_devices();
  }();
  return devices;
}

// Looking for CUDA devices initializes the driver, so what can do without them does not look.
enum class Search : uint8_t { kWithoutCuda, kEverywhere };

std::vector<Device*> list_devices(Search search) {
  std::vector<Device*> devices;
  for (metal::MetalDevice* device : metal_devices())
    if (device->kind() == DeviceKind::kMetal) devices.push_back(device);
  if (search == Search::kEverywhere)
    devices.insert(devices.end(), cuda::devices().begin(), cuda::devices().end());
  devices.push_back(&cpu::device());
  for (metal::MetalDevice* device : metal_devices())
    if (device->kind() == DeviceKind::kMetalSim) devices.push_back(device);
  return devices;
}

const std::vector<Device*>& devices_without_cuda() {
  static const std::vector<Device*> devices = list_devices(Search::kWithoutCuda);
  return devices;
}

bool is_cuda(const std::string& name) { return name.rfind("cuda", 0) == 0; }

void foresee_compilation() {
  static bool is_done = false;
  if (std::exchange(is_done, true)) return;
  const BeforeInterpreterEnds section;
  nb::object is_likely = nb::module_::import_("enceladus._early_compiler").attr("is_likely")();
  if (nb::cast<bool>(is_likely)) cuda::expect_compilation();
}

// A CUDA device may load the compiler when it starts, for which it needs to know where that lies.
Device& known(Device& device) {
  if (device.kind() == DeviceKind::kCuda) {
    find_cuda_libraries();
    foresee_compilation();
  }
  return device;
}

[[noreturn]] void refuse(const std::string& name, const std::string& present) {
  if (!is_known_kind(name))
    throw std::invalid_argument(
        "`" + name +
        "` is no device; devices are called cpu, metal, metal-sim or cuda:0 "
        "(here there is: " +
        present + ")");
  std::string message = "device `" + name + "` is not available here; there is: " + present;
  if (is_cuda(name) && !cuda::unavailable_reason().empty())
    message += " (" + cuda::unavailable_reason() + ")";
  throw std::invalid_argument(message);
}

}  // namespace

const std::vector<Device*>& all_devices() {
  static const std::vector<Device*> devices = list_devices(Search::kEverywhere);
  return devices;
}

std::vector<Device*> started_devices() {
  std::vector<Device*> started;
  const bool has_cuda = cuda::is_in_use();
  for (Device* device : has_cuda ? all_devices() : devices_without_cuda())
    if (device->has_started()) started.push_back(device);
  return started;
}

Device& find_device(const std::string& name) {
  std::string present;
  for (Device* device : devices_without_cuda())
    if (device->name() == name) return *device;
  for (Device* device : all_devices()) {
    if (device->name() == name || device->name() == name + ":0") return known(*device);
    present += (present.empty() ? "" : ", ") + device->name();
  }
  refuse(name, present);
}

metal::MetalDevice* metal_device() {
  Device& current = current_device();
  for (metal::MetalDevice* device : metal_devices())
    if (device == &current || device->kind() == DeviceKind::kMetal) return device;
  return nullptr;
}

Device& cuda_device(int index) {
  for (Device* device : cuda::devices())
    if (cuda::ordinal(*device) == index) return known(*device);
  return find_device("cuda:" + std::to_string(index));  // says what there is
}

Device& current_device() {
  if (!overrides.empty()) return *overrides.back();
  if (Device* device = chosen_default.load(std::memory_order_acquire)) return *device;
  const char* named = std::getenv("ENCELADUS_DEVICE");
  if (named && *named) return find_device(named);
  return known(*all_devices().front());
}

void find_cuda_libraries() {
  static bool is_done = false;
  if (std::exchange(is_done, true)) return;
  const BeforeInterpreterEnds section;
  nb::object folders = nb::module_::import_("enceladus._libraries").attr("cuda_folders")();
  cuda::set_library_folders(nb::cast<std::vector<std::string>>(folders));
}

void set_default_device(Device& device) {
  chosen_default.store(&device, std::memory_order_release);
}
void push_device(Device& device) { overrides.push_back(&device); }
void pop_device() { overrides.pop_back(); }

}  // namespace enceladus
