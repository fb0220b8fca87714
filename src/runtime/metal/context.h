// Context: an opened Metal framework and its device, with what the device can do. Made once, on
// first use, and never destroyed; everything else of this folder works on one.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/metal/address_map.h"
#include "runtime/metal/api.h"

namespace enceladus::metal {

inline constexpr int32_t kSimdWidth = 32;  // threads of a SIMD group, on every Apple GPU

// Which framework to open.
struct FrameworkSource {
  std::vector<std::string> libraries;  // shared objects with the symbols of both
  bool is_simulator = false;
};
FrameworkSource apple_frameworks();
// Whether this Mac has a Metal device. Loads the framework.
bool is_metal_present();
FrameworkSource simulator_framework(const std::string& library);

struct Capabilities {
  std::string name;         // "Apple M4 Pro"
  int32_t gpu_family = 0;   // 7 is M1, 9 is M3 and M4; 0: no Apple GPU
  bool has_metal4 = false;  // the family of Metal 4: matmul2d
  uint64_t threadgroup_bytes = 0;
  uint64_t buffer_bytes = 0;
};

struct Context {
  // Throws DeviceFailure where Metal or a device is missing.
  explicit Context(const FrameworkSource& source);

  const bool is_simulator;
  Objc objc;
  Api api{objc};
  Owned device;
  Capabilities capabilities;
  AddressMap addresses;
  // The simulator's `enceladus_sim_set_extent`, so that it knows how much of a buffer an argument
  // has; null on hardware.
  void (*set_extent)(Id encoder, uint64_t index, uint64_t bytes) = nullptr;
};

}  // namespace enceladus::metal
