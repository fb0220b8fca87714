#include "bindings/devices.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include "runtime/cpu/device.h"
#include "runtime/metal/device.h"

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

std::vector<Device*> list_devices() {
  std::vector<Device*> devices;
  for (metal::MetalDevice* device : metal_devices())
    if (device->kind() == DeviceKind::kMetal) devices.push_back(device);
  devices.push_back(&cpu::device());
  for (metal::MetalDevice* device : metal_devices())
    if (device->kind() == DeviceKind::kMetalSim) devices.push_back(device);
  return devices;
}

}  // namespace

const std::vector<Device*>& all_devices() {
  static const std::vector<Device*> devices = list_devices();
  return devices;
}

Device& find_device(const std::string& name) {
  std::string present;
  for (Device* device : all_devices()) {
    if (device->name() == name || device->name() == name + ":0") return *device;
    present += (present.empty() ? "" : ", ") + device->name();
  }
  if (is_known_kind(name))
    throw std::invalid_argument("device `" + name +
                                "` is not available here; there is: " + present);
  throw std::invalid_argument("`" + name +
                              "` is no device; devices are called cpu, metal, metal-sim or cuda:0 "
                              "(here there is: " +
                              present + ")");
}

Device& current_device() {
  if (!overrides.empty()) return *overrides.back();
  if (Device* device = chosen_default.load(std::memory_order_acquire)) return *device;
  const char* named = std::getenv("ENCELADUS_DEVICE");
  if (named && *named) return find_device(named);
  return *all_devices().front();
}

void set_default_device(Device& device) {
  chosen_default.store(&device, std::memory_order_release);
}
void push_device(Device& device) { overrides.push_back(&device); }
void pop_device() { overrides.pop_back(); }

}  // namespace enceladus
