// MTLDevice: what a host asks about the machine, and where its other objects come from.
#pragma once

#include "simulator/fake_framework/object.h"

namespace enceladus::fake_metal {

class Device : public Body {
 public:
  static constexpr uint64_t kMaximalBufferBytes = uint64_t{8} << 30;
  static constexpr uint64_t kThreadgroupBytes = 32768;

  static const Class& type();
  // The one device; the process keeps it.
  static Object* shared();

  Result name(const Message& message);
  Result supports_family(const Message& message);
  Result registry_id(const Message& message);
  Result threadgroup_bytes(const Message& message);
  Result maximal_buffer_bytes(const Message& message);
  Result working_set(const Message& message);
  Result has_unified_memory(const Message& message);
  Result new_queue(const Message& message);
  Result new_queue_of_size(const Message& message);
  Result new_queue_with_descriptor(const Message& message);
  Result new_event(const Message& message);
  Result new_buffer(const Message& message);
  Result new_buffer_with_bytes(const Message& message);
  Result new_buffer_without_copy(const Message& message);
  Result new_library(const Message& message);
  Result new_pipeline(const Message& message);
  Result new_pipeline_with_descriptor(const Message& message);
  Result new_log_state(const Message& message);
};

}  // namespace enceladus::fake_metal
