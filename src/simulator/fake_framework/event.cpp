#include "simulator/fake_framework/event.h"

#include "simulator/fake_framework/property.h"

namespace enceladus::fake_metal {

const Class& SharedEvent::type() {
  static constexpr Method kMethods[] = {
      method<&SharedEvent::signaled_value>("signaledValue"),
      method<&SharedEvent::set_signaled_value>("setSignaledValue:"),
      method<&SharedEvent::wait_until>("waitUntilSignaledValue:timeoutMS:"),
      getter<&SharedEvent::label>("label"),
      setter<&SharedEvent::label>("setLabel:"),
  };
  static const Class& type =
      *new Class({.name = "MTLSharedEvent", .methods = kMethods, .is_protocol = true});
  return type;
}

void SharedEvent::signal(uint64_t value) {
  {
    std::lock_guard lock(mutex_);
    value_ = value;
  }
  changed_.notify_all();
}

bool SharedEvent::wait(uint64_t value, std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, most, [&] { return value_ >= value; });
}

Result SharedEvent::signaled_value(const Message&) {
  std::lock_guard lock(mutex_);
  return give(value_);
}
Result SharedEvent::set_signaled_value(const Message& message) {
  signal(message.integer(0));
  return kNothing;
}
Result SharedEvent::wait_until(const Message& message) {
  return give(uint64_t{wait(message.integer(0), std::chrono::milliseconds(message.integer(1)))});
}

}  // namespace enceladus::fake_metal
