#include "simulator/fake_framework/time_inside.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace enceladus::fake_metal {
namespace {

int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

std::atomic<int64_t> TimeInside::ticks_inside{0}, TimeInside::calls{0};

int64_t TimeInside::ticks() {
#ifdef __x86_64__
  return static_cast<int64_t>(__rdtsc());  // at a constant rate on every processor since 2008
#else
  return now();
#endif
}

TimeInside::Rates TimeInside::measure_rates() {
  Rates rates{};
  const int64_t first_tick = ticks(), first_time = now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  rates.nanoseconds_per_tick =
      static_cast<double>(now() - first_time) / static_cast<double>(ticks() - first_tick);
  // The least of several rounds, as whatever interrupts one only adds to it.
  constexpr int kRounds = 20, kCalls = 1000;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int round = 0; round < kRounds; ++round) {
    const int64_t inside_before = ticks_inside.load(), begin = ticks();
    for (int i = 0; i < kCalls; ++i) const TimeInside call;
    least = std::min(least, ticks() - begin - (ticks_inside.load() - inside_before));
  }
  rates.ticks_beside = std::max(0.0, static_cast<double>(least) / kCalls);
  return rates;
}

int64_t TimeInside::nanoseconds() {
  static const Rates rates = measure_rates();
  const double ticks = static_cast<double>(ticks_inside.load()) +
                       rates.ticks_beside * static_cast<double>(calls.load());
  return static_cast<int64_t>(ticks * rates.nanoseconds_per_tick);
}

}  // namespace enceladus::fake_metal
