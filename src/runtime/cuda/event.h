// Events of CUDA: time stamps in a stream, and marks that another stream waits for or the host
// looks at.
#pragma once

#include "runtime/common/event.h"
#include "runtime/cuda/context.h"

namespace enceladus::cuda {

class CudaEvent : public Event {
 public:
  enum class Timing : unsigned { kOn = 0, kOff = 2 };  // CUevent_flags
  CudaEvent(const Context& context, Timing timing);
  ~CudaEvent() override;
  EventHandle handle() const { return handle_; }
  int64_t nanoseconds_until(const Event& later) const override;
  bool deletes_in_stream_order() const override { return true; }

 private:
  const Context& context_;
  EventHandle handle_ = nullptr;
};

}  // namespace enceladus::cuda
