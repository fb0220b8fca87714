// Memory of a Metal device: a shared MTLBuffer, which the host reads and writes at `data()`.
#pragma once

#include "runtime/common/buffer.h"
#include "runtime/metal/context.h"

namespace enceladus::metal {

class MetalStream;

class MetalBuffer : public Buffer {
 public:
  // Takes the buffer over, whose contents are `bytes` at `data`; they are found in the context's
  // addresses from now on.
  MetalBuffer(Context& context, MetalStream& stream, Owned buffer, void* data, int64_t bytes);
  ~MetalBuffer() override;

 private:
  Context& context_;
  MetalStream& stream_;
  Owned buffer_;
};

}  // namespace enceladus::metal
