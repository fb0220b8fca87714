// Device: where memory lives and launches run. One object per physical device, never destroyed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/common/buffer.h"
#include "runtime/common/philox.h"
#include "runtime/common/stream.h"

namespace enceladus {

enum class DeviceKind : uint8_t { kCpu, kMetal, kMetalSim, kCuda };

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceKind kind() const = 0;
  // "cpu", "metal", "cuda:0": what `str(tensor.device)` shows.
  virtual const std::string& name() const = 0;
  // False for a device that is opened on first use and has not been, and for one that is lost.
  virtual bool has_started() const { return true; }
  // What the device is and can do, by name, for people to read. May open it.
  virtual std::vector<std::pair<std::string, std::string>> properties() const { return {}; }
  // What compiled code and timings depend on: model, architecture, driver. Part of cache keys.
  virtual std::string description() const { return name(); }
  // What the target's own compiler compiles for ("sm_90a"); empty where one text serves all.
  virtual std::string architecture() const { return {}; }
  // Largest extent of each grid axis.
  virtual std::array<int64_t, 3> grid_limits() const = 0;
  // Memory of at least that many bytes, aligned to 64, filled with zeros when asked to. Throws
  // std::bad_alloc.
  virtual Ref<Buffer> allocate(int64_t bytes, bool zeroed) = 0;
  virtual Stream& default_stream() = 0;
  // Makes a compiled artifact of this device's target launchable. Throws std::runtime_error when
  // the driver or the loader refuses it.
  virtual Ref<Kernel> load(Artifact artifact) = 0;
  virtual Ref<Event> make_event() { return Ref<Event>::adopt(new Event); }
  // Queues the filling of `count` elements in `memory`, which stays alive until then.
  virtual Ticket fill_random(const RandomFill& fill, int64_t count, Buffer& memory) = 0;
  // Queues something after which the next launch finds nothing of its own in the caches.
  virtual Ticket evict_caches() = 0;

  // Whether the host reads and writes Buffer::data() itself, once launches are done. The rest is
  // for devices where it does not: each copies behind what is queued.
  virtual bool shares_host_memory() const { return true; }
  // Both return once the host's memory may be used again.
  virtual void copy_to_host(void* host, const void* from, int64_t bytes);
  virtual void copy_from_host(void* to, const void* host, int64_t bytes);
  virtual void copy_within(void* to, const void* from, int64_t bytes);
  // Sets `count` elements of `size` bytes (1, 2 or 4) to the low bits of `bits`.
  virtual void fill(void* to, int64_t count, int size, uint32_t bits);
  // Makes a framework's own stream wait for everything queued here.
  virtual void make_wait(void* native_stream) {}
};

}  // namespace enceladus
