// A Metal device: Apple's, or the simulator's through the same calls. Opened on first use, so that
// a program that only names it pays nothing; ENCELADUS_FLUSH_EVERY is read then.
#pragma once

#include <mutex>

#include "runtime/common/device.h"
#include "runtime/metal/buffer.h"
#include "runtime/metal/context.h"
#include "runtime/metal/stream.h"

namespace enceladus::metal {

class MetalDevice : public Device {
 public:
  // `source` says which framework; `kind` is kMetal or kMetalSim.
  MetalDevice(DeviceKind kind, FrameworkSource source);

  DeviceKind kind() const override { return kind_; }
  const std::string& name() const override { return name_; }
  std::string description() const override;
  std::vector<std::pair<std::string, std::string>> properties() const override;
  std::string architecture() const override;
  std::array<int64_t, 3> grid_limits() const override;
  bool has_started() const override { return opened_.load(std::memory_order_acquire) != nullptr; }
  // These open the device where it is not. Throw DeviceFailure, and std::invalid_argument for what
  // ENCELADUS_FLUSH_EVERY holds.
  Ref<Buffer> allocate(int64_t bytes, bool zeroed) override;
  MetalStream& default_stream() override { return open().stream; }
  Ref<Kernel> load(Artifact artifact) override;
  Ticket fill_random(const RandomFill& fill, int64_t count, Buffer& memory) override;
  Ticket evict_caches() override;

  // The whole pages around some bytes of the host, without a copy; null where Metal refuses. The
  // caller keeps the bytes alive and drops the result before they die.
  Ref<WrappedMemory> wrap_host_memory(uint64_t low, uint64_t high);
  // Another library's MTLBuffer. Throws DeviceFailure.
  Ref<Buffer> import_buffer(void* buffer);
  uint64_t address_of(void* foreign_buffer);
  // The MTLBuffer of a tensor's address.
  BoundPointer find(uint64_t address) { return *open().context.addresses.find(address); }

  Context& context() { return open().context; }
  // In a child process after a fork.
  void abandon();

 private:
  struct Opened {
    Opened(const FrameworkSource& source, StreamOptions options)
        : context(source), stream(context, options) {}
    Context context;
    MetalStream stream;
    Ref<Buffer> scratch;  // what evicts the caches; made when first wanted
  };
  Opened& open() const;

  const DeviceKind kind_;
  const std::string name_;
  const FrameworkSource source_;
  mutable std::mutex opening_;
  mutable std::atomic<Opened*> opened_{nullptr};
};

}  // namespace enceladus::metal
