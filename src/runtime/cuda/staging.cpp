#include "runtime/cuda/staging.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace enceladus::cuda {
namespace {

constexpr int64_t kChunkBytes = int64_t{4} << 20;

}  // namespace

void Staging::prepare() {
  if (chunks_[1].event) return;
  for (Chunk& chunk : chunks_) {
    context_.check(context_.driver().allocate_host(&chunk.memory, kChunkBytes, 0),
                   "cuMemHostAlloc");
    context_.check(context_.driver().create_event(&chunk.event, kWithoutTiming), "cuEventCreate");
  }
}

void Staging::await(Chunk& chunk) {
  if (!chunk.is_pending) return;
  Result result;
  while ((result = context_.driver().query_event(chunk.event)) == kNotReady)
    std::this_thread::yield();
  chunk.is_pending = false;
  context_.check(result, "cuEventQuery");
}

void Staging::mark(Chunk& chunk) {
  context_.check(context_.driver().record_event(chunk.event, stream_), "cuEventRecord");
  chunk.is_pending = true;
}

void Staging::upload(DevicePointer to, const void* host, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const Context::Scope scope(context_);
  prepare();
  const auto* from = static_cast<const char*>(host);
  size_t turn = 0;
  for (int64_t at = 0; at < bytes; at += kChunkBytes, turn ^= 1) {
    Chunk& chunk = chunks_[turn];
    const auto size = static_cast<size_t>(std::min(kChunkBytes, bytes - at));
    await(chunk);
    std::memcpy(chunk.memory, from + at, size);
    context_.check(context_.driver().copy_to_device(to + static_cast<DevicePointer>(at),
                                                    chunk.memory, size, stream_),
                   "cuMemcpyHtoDAsync");
    mark(chunk);
  }
}

void Staging::download(void* host, DevicePointer from, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const Context::Scope scope(context_);
  prepare();
  auto* to = static_cast<char*>(host);
  for (Chunk& chunk : chunks_) await(chunk);
  const auto size_at = [&](int64_t at) {
    return static_cast<size_t>(std::min(kChunkBytes, bytes - at));
  };
  const auto request = [&](int64_t at) {
    Chunk& chunk = chunks_[static_cast<size_t>(at / kChunkBytes % 2)];
    context_.check(context_.driver().copy_to_host(
                       chunk.memory, from + static_cast<DevicePointer>(at), size_at(at), stream_),
                   "cuMemcpyDtoHAsync");
    mark(chunk);
  };
  if (bytes > 0) request(0);
  for (int64_t at = 0; at < bytes; at += kChunkBytes) {
    if (at + kChunkBytes < bytes) request(at + kChunkBytes);
    Chunk& chunk = chunks_[static_cast<size_t>(at / kChunkBytes % 2)];
    await(chunk);
    std::memcpy(to + at, chunk.memory, size_at(at));
  }
}

}  // namespace enceladus::cuda
