#include "bindings/device_start.h"

#include <nanobind/nanobind.h>

#include <exception>
#include <system_error>

#include "bindings/interpreter_lock.h"

namespace enceladus {

DeviceStart::DeviceStart(Device& device) {
  if (device.kind() != DeviceKind::kCuda || device.has_started()) return;
  try {
    thread_ = std::thread([&device] {
      try {
        device.default_stream();
      } catch (const std::exception&) {
        // As the header says.
      }
    });
  } catch (const std::system_error&) {
    // No thread: the device starts when it is used.
  }
}

DeviceStart::~DeviceStart() {
  if (!thread_.joinable()) return;
  const InterpreterUnlocked unlocked;
  thread_.join();
}

}  // namespace enceladus
