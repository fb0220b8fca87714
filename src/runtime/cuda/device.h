// NVIDIA GPUs as devices, one object each for the life of the process.
#pragma once

#include <string>
#include <vector>

#include "runtime/common/device.h"

namespace enceladus::cuda {

// "cuda:0", "cuda:1", ...; empty where there is no usable driver or no GPU. The first call loads
// the driver; contexts are made when a device is first used. After a fork of a process that used
// CUDA it throws DeviceFailure.
const std::vector<Device*>& devices();
// Why `devices` is empty; empty where it is not.
const std::string& unavailable_reason();
// Whether a device has been used in this process, so that there may be something to wait for.
bool is_in_use();

// The index that CUDA and DLPack know the device by, which must be of this file.
int ordinal(const Device& device);
// The index of the device whose memory the address is of, by the driver. Throws DeviceFailure for
// memory that the driver does not know.
int ordinal_of_memory(const void* address);
// Makes what is queued on a device of this file from now on wait for another library's stream.
void wait_for(Device& device, void* native_stream);

}  // namespace enceladus::cuda
