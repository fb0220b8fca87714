// A GPU started on a thread of its own while a kernel is looked for or compiled, which takes as
// long and needs none: for launches that nothing on the device came before, as on NumPy arrays.
#pragma once

#include <thread>

#include "runtime/common/device.h"

namespace enceladus {

class DeviceStart {
 public:
  // Starts nothing for a device that has started, or that has no start of its own.
  explicit DeviceStart(Device& device);
  DeviceStart(const DeviceStart&) = delete;
  DeviceStart& operator=(const DeviceStart&) = delete;
  // Waits for it, without the interpreter lock. What failed is met again by whoever uses the
  // device.
  ~DeviceStart();

 private:
  std::thread thread_;
};

}  // namespace enceladus
