#include "runtime/metal/device.h"

#include <algorithm>
#include <climits>
#include <new>

#include "runtime/common/flush_every.h"
#include "runtime/metal/buffer.h"

namespace enceladus::metal {
namespace {

constexpr int64_t kSmallestBuffer = 1;  // Metal makes none of 0 bytes
// More than the caches of any Apple GPU hold.
constexpr int64_t kEvictionBytes = int64_t{128} << 20;

}  // namespace

MetalDevice::MetalDevice(DeviceKind kind, FrameworkSource source)
    : kind_(kind),
      name_(kind == DeviceKind::kMetalSim ? "metal-sim" : "metal"),
      source_(std::move(source)) {}

MetalDevice::Opened& MetalDevice::open() const {
  if (Opened* opened = opened_.load(std::memory_order_acquire)) return *opened;
  const std::lock_guard lock(opening_);
  if (Opened* opened = opened_.load(std::memory_order_relaxed)) return *opened;
  auto* opened = new Opened(source_, {.flush_every = flush_every()});
  opened_.store(opened, std::memory_order_release);
  return *opened;
}

std::string MetalDevice::description() const {
  std::string text = name_;
  for (const auto& [name, value] : properties()) text += ", " + name + " " + value;
  return text;
}

std::vector<std::pair<std::string, std::string>> MetalDevice::properties() const {
  const Capabilities& capabilities = open().context.capabilities;
  return {{"gpu", capabilities.name},
          {"family", std::to_string(capabilities.gpu_family)},
          {"metal4", capabilities.has_metal4 ? "yes" : "no"},
          {"threadgroup_memory", std::to_string(capabilities.threadgroup_bytes)},
          {"largest_buffer", std::to_string(capabilities.buffer_bytes)}};
}

std::string MetalDevice::architecture() const {
  const Capabilities& capabilities = open().context.capabilities;
  return "apple" + std::to_string(capabilities.gpu_family) +
         (capabilities.has_metal4 ? "+metal4" : "");
}

std::array<int64_t, 3> MetalDevice::grid_limits() const { return {INT_MAX, INT_MAX, INT_MAX}; }

// Metal's new buffers hold zeros.
Ref<Buffer> MetalDevice::allocate(int64_t bytes, bool zeroed) {
  Opened& opened = open();
  if (static_cast<uint64_t>(bytes) > opened.context.capabilities.buffer_bytes)
    throw std::bad_alloc();
  const Pool pool(opened.context.objc);
  Owned buffer = opened.context.api.new_buffer(
      opened.context.device.get(), static_cast<uint64_t>(std::max(bytes, kSmallestBuffer)));
  void* data = buffer ? opened.context.api.contents(buffer.get()) : nullptr;
  if (!data) throw std::bad_alloc();
  return Ref<MetalBuffer>::adopt(
      new MetalBuffer(opened.context, opened.stream, std::move(buffer), data, bytes));
}

Ref<Kernel> MetalDevice::load(Artifact artifact) {
  Opened& opened = open();
  return load_kernel(opened.context, opened.stream, std::move(artifact));
}

// The memory is new and shared with the host: nothing is queued for it.
Ticket MetalDevice::fill_random(const RandomFill& fill, int64_t count, Buffer&) {
  enceladus::fill_random(fill, 0, count);
  return 0;
}

Ticket MetalDevice::evict_caches() {
  Opened& opened = open();
  if (opened.context.is_simulator) return 0;  // it has none
  {
    const std::lock_guard lock(opening_);
    if (!opened.scratch) opened.scratch = allocate(kEvictionBytes, false);
  }
  const auto address = reinterpret_cast<uint64_t>(opened.scratch->data());
  const Id buffer = opened.context.addresses.find(address)->buffer;
  return opened.stream.fill(buffer, kEvictionBytes, 1);
}

void MetalDevice::abandon() {
  if (Opened* opened = opened_.load(std::memory_order_acquire)) opened->stream.abandon();
}

}  // namespace enceladus::metal
