// A thread that looks after launches which were held back and then got no company: the last ones of
// a burst whose program goes on to do something else. It sleeps while there are none.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace enceladus::cuda {

class Flusher {
 public:
  // `look` hands over what has been held for long, and returns whether anything is still held. It
  // is called from the thread, now and then, from a call of `watch` until it has long returned
  // false.
  explicit Flusher(std::function<bool()> look) : look_(std::move(look)) {}
  Flusher(const Flusher&) = delete;
  Flusher& operator=(const Flusher&) = delete;
  ~Flusher();

  // Something is held. Starts the thread when first called; one caller at a time. False where the
  // system gives no thread.
  bool watch();
  void stop();

 private:
  enum State : int { kAsleep, kLooking, kStopped };
  void run();
  void look_for_a_while();

  const std::function<bool()> look_;
  std::atomic<int> state_{kAsleep};
  std::thread thread_;
};

}  // namespace enceladus::cuda
