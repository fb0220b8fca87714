#include "bindings/devices.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include "runtime/cpu/device.h"

namespace enceladus {
namespace {

std::atomic<Device*> chosen_default{nullptr};
thread_local std::vector<Device*> overrides;

bool is_known_kind(const std::string& name) {
  const std::string kind = name.substr(0, name.find(':'));
  return kind == "cpu" || kind == "cuda" || kind == "metal" || kind == "metal-sim";
}

}  // namespace

std::vector<Device*> all_devices() { return {&cpu::device()}; }

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
  return cpu::device();
}

void set_default_device(Device& device) {
  chosen_default.store(&device, std::memory_order_release);
}
void push_device(Device& device) { overrides.push_back(&device); }
void pop_device() { overrides.pop_back(); }

}  // namespace enceladus
