// Whether a program launches one kernel behind the other so quickly that holding launches back for
// company pays: the host's time of a launch is several times that of a small kernel. A launch that
// does not follow a few others at once is none of a burst and never waits. Only counts; the stream
// holds and hands over.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace enceladus::cuda {

struct Holding {
  size_t largest_batch = 64;  // launches held at a time; 1 holds none
  // From the start of one launch of a burst to that of the next; launching alone takes a third.
  std::chrono::microseconds longest_gap{15};
  // A burst that has not filled its batch by then waits no longer.
  std::chrono::microseconds longest_held{300};
};

class Burst {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Launches of a burst that go out one by one, before any is held.
  static constexpr int kAlone = 4;
  static constexpr size_t kFirstBatch = 8;

  explicit Burst(const Holding& holding) : holding_(holding) { end(); }

  // Notes a launch; whether it may be held.
  bool add(Time now) {
    if (now - newest_ > holding_.longest_gap) end();
    newest_ = now;
    return holding_.largest_batch > 1 && ++count_ > kAlone;
  }
  // Somebody waits: the next launch begins anew.
  void end() {
    count_ = 0;
    batch_ = std::min(kFirstBatch, holding_.largest_batch);
  }
  // How many launches are to be held before they are handed over. They grow to the largest, so
  // that the device does not wait long for the first ones.
  size_t batch() const { return batch_; }
  void grow() { batch_ = std::min(2 * batch_, holding_.largest_batch); }

 private:
  const Holding holding_;
  Time newest_{};
  int count_ = 0;
  size_t batch_ = 0;
};

}  // namespace enceladus::cuda
