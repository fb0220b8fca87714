// Device: where memory lives and launches run. One object per physical device, never destroyed.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "runtime/common/buffer.h"
#include "runtime/common/stream.h"

namespace enceladus {

enum class DeviceKind : uint8_t { kCpu, kMetal, kMetalSim, kCuda };

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceKind kind() const = 0;
  // "cpu", "metal", "cuda:0": what `str(tensor.device)` shows.
  virtual const std::string& name() const = 0;
  // Largest extent of each grid axis.
  virtual std::array<int64_t, 3> grid_limits() const = 0;
  // Memory of at least that many bytes, aligned to 64, filled with zeros when asked to. Throws
  // std::bad_alloc.
  virtual Ref<Buffer> allocate(int64_t bytes, bool zeroed) = 0;
  virtual Stream& default_stream() = 0;
  // Makes a compiled artifact of this device's target launchable. Throws std::runtime_error when
  // the driver or the loader refuses it.
  virtual Ref<Kernel> load(Artifact artifact) = 0;
};

}  // namespace enceladus
