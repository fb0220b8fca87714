#include "runtime/cuda/event.h"

namespace enceladus::cuda {

CudaEvent::CudaEvent(const Context& context, Timing timing) : context_(context) {
  const Context::Scope scope(context);
  context.check(context.driver().create_event(&handle_, static_cast<unsigned>(timing)),
                "cuEventCreate");
}

CudaEvent::~CudaEvent() {
  if (is_driver_usable()) context_.driver().destroy_event(handle_);
}

int64_t CudaEvent::nanoseconds_until(const Event& later) const {
  const Context::Scope scope(context_);
  float milliseconds = 0;
  const auto& end = static_cast<const CudaEvent&>(later);
  context_.check(context_.driver().elapsed_time(&milliseconds, handle_, end.handle_),
                 "cuEventElapsedTime");
  return static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
}

}  // namespace enceladus::cuda
