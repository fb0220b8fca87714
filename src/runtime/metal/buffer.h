// Memory of a Metal device: a shared MTLBuffer, which the host reads and writes at `data()`.
#pragma once

#include "runtime/common/buffer.h"
#include "runtime/metal/context.h"

namespace enceladus::metal {

class MetalStream;

class MetalBuffer : public Buffer {
 public:
  // Takes the buffer over. Its first `bytes` are found in the context's addresses from now on.
  MetalBuffer(Context& context, MetalStream& stream, Owned buffer, int64_t bytes);
  ~MetalBuffer() override;

 private:
  Context& context_;
  MetalStream& stream_;
  Owned buffer_;
};

}  // namespace enceladus::metal
