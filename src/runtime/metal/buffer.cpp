#include "runtime/metal/buffer.h"

#include "runtime/common/failure.h"
#include "runtime/metal/stream.h"
#include "support/check.h"

namespace enceladus::metal {
namespace {

uint64_t address_of(const Buffer& buffer) { return reinterpret_cast<uint64_t>(buffer.data()); }

void* reachable_contents(const Context& context, Id buffer) {
  if (void* contents = context.api.contents(buffer)) return contents;
  throw DeviceFailure("metal",
                      "contents: nil; the other library's buffer is in the GPU's private "
                      "memory, which the host cannot reach");
}

}  // namespace

MetalBuffer::MetalBuffer(Context& context, MetalStream& stream, Owned buffer, void* data,
                         int64_t bytes)
    : Buffer(data, bytes), context_(context), stream_(stream), buffer_(std::move(buffer)) {
  const bool is_new =
      context_.addresses.insert(address_of(*this), static_cast<uint64_t>(bytes), buffer_.get());
  ENC_CHECK(is_new, "new memory lies where other memory is");
}

MetalBuffer::~MetalBuffer() {
  context_.addresses.erase(address_of(*this));
  stream_.release_later(std::move(buffer_));
}

bool WrappedMemory::take_tensors() {
  if (!takes_tensors_)
    takes_tensors_ =
        context_.addresses.insert(address_of(*this), static_cast<uint64_t>(bytes()), buffer_.get());
  return takes_tensors_;
}

WrappedMemory::~WrappedMemory() {
  if (takes_tensors_) context_.addresses.erase(address_of(*this));
  stream_.release_later(std::move(buffer_));
}

ForeignBuffer::ForeignBuffer(Context& context, MetalStream& stream, Id buffer)
    : Buffer(reachable_contents(context, buffer), static_cast<int64_t>(context.api.length(buffer))),
      context_(context),
      stream_(stream),
      buffer_(Owned::share(context.objc, buffer)) {
  if (context_.addresses.insert(address_of(*this), static_cast<uint64_t>(bytes()), buffer)) return;
  throw DeviceFailure("metal", "the other library's buffer shares memory with a buffer of ours");
}

ForeignBuffer::~ForeignBuffer() {
  context_.addresses.erase(address_of(*this));
  stream_.release_later(std::move(buffer_));
}

uint64_t address_of_contents(const Context& context, Id buffer) {
  if (void* contents = context.api.contents(buffer)) return reinterpret_cast<uint64_t>(contents);
  return context.api.gpu_address(buffer);
}

}  // namespace enceladus::metal
