// Encodes launches into one command buffer through one compute encoder, leaving out what the
// encoder already holds from the launch before. Not thread-safe: the stream's lock is around it.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "runtime/common/stream.h"
#include "runtime/metal/batch.h"

namespace enceladus::metal {

class BatchEncoder {
 public:
  // Opens a command buffer. `log_state` may be null. Throws DeviceFailure.
  BatchEncoder(Context& context, Id queue, Id log_state);

  // `pointers` holds one for each of the layout's. Throws DeviceFailure, and then encodes nothing.
  void encode(MetalKernel& kernel, const Launch& launch, std::span<const BoundPointer> pointers);
  // Sets bytes of a buffer, behind what has been encoded.
  void fill(Id buffer, uint64_t bytes, uint8_t value);
  // Ends encoding, has the event signaled and the handler called when all has run, and hands the
  // command buffer to the device. Gives the batch, without a ticket.
  std::unique_ptr<Batch> commit(Id event, uint64_t signal, const Block& completed);

  Batch& batch() { return *batch_; }

 private:
  void bind(uint32_t index, BoundPointer pointer);
  void bind_failure_record(MetalKernel& kernel);

  Context& context_;
  const Api& api_;
  std::unique_ptr<Batch> batch_;
  Owned encoder_;
  Id pipeline_ = nullptr;
  std::array<BoundPointer, kMostBuffers> bound_ = {};
};

}  // namespace enceladus::metal
