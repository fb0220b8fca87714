// How long each stage of a compilation took. Not for kernels (runtime/common/event.h).
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace enceladus {

struct StageTime {
  std::string stage;
  double milliseconds;
};

class Stopwatch {
 public:
  // Ends the stage that began with the construction or with the last call.
  void lap(const std::string& stage) {
    Clock::time_point now = Clock::now();
    times_.push_back({stage, std::chrono::duration<double, std::milli>(now - start_).count()});
    start_ = now;
  }
  std::vector<StageTime> take() { return std::move(times_); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  std::vector<StageTime> times_;
};

}  // namespace enceladus
