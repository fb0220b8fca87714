#include "runtime/cuda/memory.h"

#include <algorithm>
#include <cstdint>

namespace enceladus::cuda {
namespace {

constexpr int kPoolsSupported = 115;  // CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
constexpr int kReleaseThreshold = 4;  // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD

}  // namespace

MemoryPool::MemoryPool(const Context& context, StreamHandle stream)
    : context_(context), stream_(stream) {
  if (!context.attribute(kPoolsSupported)) return;
  PoolProperties properties;
  properties.location.id = context.ordinal();
  context.check(context.driver().create_pool(&pool_, &properties), "cuMemPoolCreate");
  uint64_t keep_everything = UINT64_MAX;
  context.check(context.driver().set_pool_attribute(pool_, kReleaseThreshold, &keep_everything),
                "cuMemPoolSetAttribute");
}

Result MemoryPool::try_allocate(DevicePointer* memory, size_t bytes) const {
  const Driver& driver = context_.driver();
  return pool_ ? driver.allocate_from_pool(memory, bytes, pool_, stream_)
               : driver.allocate(memory, bytes);
}

DevicePointer MemoryPool::allocate(int64_t bytes) {
  const Context::Scope scope(context_);
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  DevicePointer memory = 0;
  Result result = try_allocate(&memory, size);
  if (result == kOutOfMemory && pool_) {
    context_.check(context_.driver().trim_pool(pool_, 0), "cuMemPoolTrimTo");
    result = try_allocate(&memory, size);
  }
  if (result == kOutOfMemory) {
    size_t free = 0, total = 0;
    context_.driver().memory_info(&free, &total);
    throw OutOfDeviceMemory("cuda:" + std::to_string(context_.ordinal()) + " has no " +
                            std::to_string(bytes) + " bytes left: " + std::to_string(free) +
                            " of " + std::to_string(total) + " are free");
  }
  context_.check(result, "cuMemAllocFromPoolAsync");
  return memory;
}

void MemoryPool::free(DevicePointer memory) {
  if (!is_driver_usable()) return;
  try {
    const Context::Scope scope(context_);
    const Driver& driver = context_.driver();
    pool_ ? driver.free_async(memory, stream_) : driver.free(memory);
  } catch (const std::exception&) {
    // The context is lost, and its memory with it.
  }
}

CudaBuffer::CudaBuffer(MemoryPool& pool, int64_t bytes)
    : Buffer(reinterpret_cast<void*>(pool.allocate(bytes)), bytes), pool_(pool) {}

}  // namespace enceladus::cuda
