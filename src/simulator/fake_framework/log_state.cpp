#include "simulator/fake_framework/log_state.h"

#include "simulator/fake_framework/foundation.h"
#include "simulator/fake_framework/ledger.h"
#include "simulator/fake_framework/property.h"

namespace enceladus::fake_metal {

const Class& LogStateDescriptor::type() {
  using Self = LogStateDescriptor;
  static constexpr Method kMethods[] = {
      getter<&Self::level>("level"),
      setter<&Self::level>("setLevel:"),
      getter<&Self::buffer_bytes>("bufferSize"),
      setter<&Self::buffer_bytes>("setBufferSize:"),
  };
  static const Class& type =
      *new Class({.name = "MTLLogStateDescriptor", .methods = kMethods, .allocate = [] {
                    return make<LogStateDescriptor>();
                  }});
  return type;
}

const Class& LogState::type() {
  static constexpr Method kMethods[] = {method<&LogState::add_handler>("addLogHandler:")};
  static const Class& type =
      *new Class({.name = "MTLLogState", .methods = kMethods, .is_protocol = true});
  return type;
}

void LogState::deliver(const std::vector<std::string>& lines) {
  constexpr int64_t kLevelDefault = 0;
  std::lock_guard lock(mutex_);
  auto nothing = Ref<String>::take(make<String>());
  for (const std::string& line : lines) {
    auto text = Ref<String>::take(make<String>(line));
    for (const Block& handler : handlers_) {
      handler.call(nothing.get(), nothing.get(), kLevelDefault, text.get());
    }
  }
}

Result LogState::add_handler(const Message& message) {
  Block handler(message.pointer<void>(0));
  if (!handler) throw ContractViolation("the handler is nil");
  std::lock_guard lock(mutex_);
  handlers_.push_back(std::move(handler));
  return kNothing;
}

}  // namespace enceladus::fake_metal
