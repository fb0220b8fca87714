// MTLSharedEvent: a counter that command buffers and the host signal and wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "simulator/fake_framework/object.h"

namespace enceladus::fake_metal {

class SharedEvent : public Body {
 public:
  static const Class& type();

  void signal(uint64_t value);
  // Whether the value was reached in time.
  bool wait(uint64_t value, std::chrono::milliseconds most);

  Result signaled_value(const Message& message);
  Result set_signaled_value(const Message& message);
  Result wait_until(const Message& message);

  std::string label;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t value_ = 0;
};

}  // namespace enceladus::fake_metal
