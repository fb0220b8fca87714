// The devices of this process by name, and which one is current.
#pragma once

#include <string>
#include <vector>

#include "runtime/common/device.h"
#include "runtime/metal/device.h"

namespace enceladus {

// All of them, the default one first. None is opened by this, but CUDA's driver is loaded.
const std::vector<Device*>& all_devices();
// Those that have been used in this process.
std::vector<Device*> started_devices();
// Throws std::invalid_argument that lists what is here where there is none of that name.
Device& find_device(const std::string& name);
// Where arrays of other libraries on Metal are: the current device if it is Metal's (so that the
// simulator can stand in), else Apple's; null where there is none.
metal::MetalDevice* metal_device();
inline bool is_metal(const Device& device) {
  return device.kind() == DeviceKind::kMetal || device.kind() == DeviceKind::kMetalSim;
}
// By CUDA's own number; the same error.
Device& cuda_device(int index);

// Of the innermost `with enceladus.device(...)` of this thread, else what set_device chose, else
// ENCELADUS_DEVICE, else the first of `all_devices`. Tens of nanoseconds.
Device& current_device();

// Lets NVRTC be found in Python packages, which the loader does not look into. Before compiling for
// CUDA, with the interpreter lock.
void find_cuda_libraries();

void set_default_device(Device& device);
void push_device(Device& device);  // of this thread
void pop_device();

}  // namespace enceladus
