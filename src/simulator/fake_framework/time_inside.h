// Time that the threads of a host program spend inside the stand-in, so that a test of the host's
// own cost can deduct it. Calls within calls count once; threads of command queues do not count.
// What the counting itself costs is the stand-in's, too: it is measured once and counted by call.
#pragma once

#include <atomic>
#include <cstdint>

namespace enceladus::fake_metal {

class TimeInside {
 public:
  TimeInside() {
    if (depth_++ == 0) begin_ = ticks();
  }
  ~TimeInside() {
    if (--depth_ != 0) return;
    ticks_inside.fetch_add(ticks() - begin_, std::memory_order_relaxed);
    calls.fetch_add(1, std::memory_order_relaxed);
  }
  TimeInside(const TimeInside&) = delete;
  TimeInside& operator=(const TimeInside&) = delete;

  // Of all threads so far. The first call takes a few milliseconds longer.
  static int64_t nanoseconds();
  // Called once by a thread that is not the host's.
  static void leave_out_this_thread() { depth() = 1; }

 private:
  struct Rates {
    double nanoseconds_per_tick;
    double ticks_beside;  // of each call: what passes before the first and behind the last reading
  };
  static Rates measure_rates();
  // The processor's own counter where there is one that is quicker to read than the clock.
  static int64_t ticks();
  static int& depth() {
    thread_local int depth = 0;
    return depth;
  }

  static std::atomic<int64_t> ticks_inside, calls;

  int& depth_ = depth();  // looked up once: thread-local words of a library cost a call
  int64_t begin_ = 0;
};

}  // namespace enceladus::fake_metal
