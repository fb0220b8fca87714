#include "runtime/metal/device.h"

#include <algorithm>
#include <climits>
#include <new>

#include "runtime/common/flush_every.h"
#include "runtime/metal/host_arrays.h"

namespace enceladus::metal {
namespace {

// Metal makes none of 0 bytes; atomics of narrow elements work on whole words.
constexpr int64_t kWord = 4;
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
      opened.context.device.get(),
      static_cast<uint64_t>(std::max((bytes + kWord - 1) / kWord * kWord, kWord)));
  void* data = buffer ? opened.context.api.contents(buffer.get()) : nullptr;
  if (!data) throw std::bad_alloc();
  return Ref<MetalBuffer>::adopt(
      new MetalBuffer(opened.context, opened.stream, std::move(buffer), data, bytes));
}

Ref<WrappedMemory> MetalDevice::wrap_host_memory(uint64_t low, uint64_t high) {
  Opened& opened = open();
  const Pool pool(opened.context.objc);
  const Pages pages(low, high);
  void* first = reinterpret_cast<void*>(pages.first);
  if (pages.bytes == 0 || pages.bytes > opened.context.capabilities.buffer_bytes) return {};
  Owned buffer =
      opened.context.api.new_buffer_no_copy(opened.context.device.get(), first, pages.bytes);
  if (!buffer) return {};
  return Ref<WrappedMemory>::adopt(new WrappedMemory(
      opened.context, opened.stream, std::move(buffer), first, static_cast<int64_t>(pages.bytes)));
}

Ref<Buffer> MetalDevice::import_buffer(void* buffer) {
  Opened& opened = open();
  const Pool pool(opened.context.objc);
  return Ref<Buffer>::adopt(new ForeignBuffer(opened.context, opened.stream, buffer));
}

uint64_t MetalDevice::address_of(void* foreign_buffer) {
  const Context& context = open().context;
  const Pool pool(context.objc);
  return address_of_contents(context, foreign_buffer);
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
