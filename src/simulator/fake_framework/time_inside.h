// Time that the threads of a host program spend inside the stand-in, so that a test of the host's
// own cost can deduct it. Calls within calls count once; threads of command queues do not count.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace enceladus::fake_metal {

class TimeInside {
 public:
  TimeInside() {
    if (depth()++ == 0) begin_ = now();
  }
  ~TimeInside() {
    if (--depth() == 0) total().fetch_add(now() - begin_, std::memory_order_relaxed);
  }
  TimeInside(const TimeInside&) = delete;
  TimeInside& operator=(const TimeInside&) = delete;

  static std::atomic<int64_t>& total() {
    static std::atomic<int64_t> nanoseconds{0};
    return nanoseconds;
  }
  // Called once by a thread that is not the host's.
  static void leave_out_this_thread() { depth() = 1; }

 private:
  static int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  }
  static int& depth() {
    thread_local int depth = 0;
    return depth;
  }

  int64_t begin_ = 0;
};

}  // namespace enceladus::fake_metal
