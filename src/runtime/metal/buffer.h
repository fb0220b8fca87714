// Memory of a Metal device as the runtime's buffers: allocated (shared MTLBuffers, which the host
// reads and writes at `data()`), pages of the host's wrapped without a copy, and MTLBuffers that
// another library made. All but wrapped pages are found in the context's addresses.
#pragma once

#include "runtime/common/buffer.h"
#include "runtime/metal/context.h"

namespace enceladus::metal {

class MetalStream;

class MetalBuffer : public Buffer {
 public:
  // Takes the buffer over, whose contents are `bytes` at `data`.
  MetalBuffer(Context& context, MetalStream& stream, Owned buffer, void* data, int64_t bytes);
  ~MetalBuffer() override;

 private:
  Context& context_;
  MetalStream& stream_;
  Owned buffer_;
};

// The whole pages that an array of the host spans. Its owner must outlive it.
class WrappedMemory : public Buffer {
 public:
  WrappedMemory(Context& context, MetalStream& stream, Owned buffer, void* pages, int64_t bytes)
      : Buffer(pages, bytes), context_(context), stream_(stream), buffer_(std::move(buffer)) {}
  ~WrappedMemory() override;

  // Of an address in it.
  BoundPointer find(uint64_t address) const {
    return {.buffer = buffer_.get(), .offset = address - reinterpret_cast<uint64_t>(data())};
  }
  // Lets tensors lie in it. False where some of its pages belong to another buffer already.
  bool take_tensors();

 private:
  Context& context_;
  MetalStream& stream_;
  Owned buffer_;
  bool takes_tensors_ = false;
};

// Another library's MTLBuffer, kept alive and found by the addresses of its contents.
class ForeignBuffer : public Buffer {
 public:
  // Throws DeviceFailure where the host cannot reach its contents.
  ForeignBuffer(Context& context, MetalStream& stream, Id buffer);
  ~ForeignBuffer() override;

 private:
  Context& context_;
  MetalStream& stream_;
  Owned buffer_;
};

// Where the elements of another library's MTLBuffer are: for the host if it can reach them, else
// for the GPU. Tells buffers apart.
uint64_t address_of_contents(const Context& context, Id buffer);

}  // namespace enceladus::metal
