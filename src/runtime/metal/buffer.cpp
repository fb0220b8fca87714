#include "runtime/metal/buffer.h"

#include "runtime/metal/stream.h"

namespace enceladus::metal {

MetalBuffer::MetalBuffer(Context& context, MetalStream& stream, Owned buffer, void* data,
                         int64_t bytes)
    : Buffer(data, bytes), context_(context), stream_(stream), buffer_(std::move(buffer)) {
  context_.addresses.insert(reinterpret_cast<uint64_t>(data), static_cast<uint64_t>(bytes),
                            buffer_.get());
}

MetalBuffer::~MetalBuffer() {
  context_.addresses.erase(reinterpret_cast<uint64_t>(data()));
  stream_.release_later(std::move(buffer_));
}

}  // namespace enceladus::metal
