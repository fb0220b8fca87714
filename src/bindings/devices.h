// The devices of this process by name, and which one is current.
#pragma once

#include <string>
#include <vector>

#include "runtime/common/device.h"

namespace enceladus {

// All of them, the default one first. None is opened by this.
const std::vector<Device*>& all_devices();
// Throws std::invalid_argument that lists what is here where there is none of that name.
Device& find_device(const std::string& name);

// Of the innermost `with enceladus.device(...)` of this thread, else what set_device chose, else
// ENCELADUS_DEVICE, else the first of `all_devices`. Tens of nanoseconds.
Device& current_device();

void set_default_device(Device& device);
void push_device(Device& device);  // of this thread
void pop_device();

}  // namespace enceladus
