// Event: a point in a stream and when the device reached it. The time between two events is taken
// from the start of the first launch behind the earlier one to the end of the last launch before
// the later one, so that a device waiting for the host does not count.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/common/resource.h"

namespace enceladus {

class Event : public Resource {
 public:
  // Device time in nanoseconds at which everything queued before the event was done.
  void set_reached(int64_t nanoseconds) { reached_.store(nanoseconds, std::memory_order_release); }
  int64_t reached() const { return reached_.load(std::memory_order_acquire); }
  // Device time at which the first launch behind the event began, or `reached` while none has.
  void set_continued(int64_t nanoseconds) {
    continued_.store(nanoseconds, std::memory_order_release);
  }
  int64_t continued() const { return continued_.load(std::memory_order_acquire); }
  // Device time to a later event of the same stream. Both must have been reached; never negative
  // for events recorded in this order.
  virtual int64_t nanoseconds_until(const Event& later) const {
    const int64_t elapsed = later.reached() - continued();
    return elapsed < 0 ? 0 : elapsed;
  }

 private:
  std::atomic<int64_t> reached_{0};
  std::atomic<int64_t> continued_{0};
};

}  // namespace enceladus
