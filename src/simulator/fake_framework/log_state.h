// MTLLogState: takes what kernels write with os_log to the handlers of the host.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "simulator/fake_framework/blocks.h"
#include "simulator/fake_framework/object.h"

namespace enceladus::fake_metal {

class LogStateDescriptor : public Body {
 public:
  static const Class& type();

  uint64_t level = 0;
  uint64_t buffer_bytes = 0;
};

class LogState : public Body {
 public:
  static const Class& type();

  // Calls every handler with every line, on this thread.
  void deliver(const std::vector<std::string>& lines);
  Result add_handler(const Message& message);

 private:
  std::mutex mutex_;
  std::vector<Block> handlers_;
};

}  // namespace enceladus::fake_metal
