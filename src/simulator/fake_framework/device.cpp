#include "simulator/fake_framework/device.h"

#include <cstring>

#include "simulator/fake_framework/buffer.h"
#include "simulator/fake_framework/command_queue.h"
#include "simulator/fake_framework/event.h"
#include "simulator/fake_framework/foundation.h"
#include "simulator/fake_framework/ledger.h"
#include "simulator/fake_framework/library.h"
#include "simulator/fake_framework/log_state.h"
#include "simulator/fake_framework/pipeline.h"
#include "simulator/fake_framework/settings.h"

namespace enceladus::fake_metal {

const Class& Device::type() {
  static constexpr Method kMethods[] = {
      method<&Device::name>("name"),
      method<&Device::supports_family>("supportsFamily:"),
      method<&Device::registry_id>("registryID"),
      method<&Device::threadgroup_bytes>("maxThreadgroupMemoryLength"),
      method<&Device::maximal_buffer_bytes>("maxBufferLength"),
      method<&Device::working_set>("recommendedMaxWorkingSetSize"),
      method<&Device::has_unified_memory>("hasUnifiedMemory"),
      method<&Device::new_queue>("newCommandQueue", Failure::kNil),
      method<&Device::new_queue_of_size>("newCommandQueueWithMaxCommandBufferCount:",
                                         Failure::kNil),
      method<&Device::new_queue_with_descriptor>("newCommandQueueWithDescriptor:", Failure::kNil),
      method<&Device::new_event>("newSharedEvent", Failure::kNil),
      method<&Device::new_buffer>("newBufferWithLength:options:", Failure::kNil),
      method<&Device::new_buffer_with_bytes>("newBufferWithBytes:length:options:", Failure::kNil),
      method<&Device::new_buffer_without_copy>(
          "newBufferWithBytesNoCopy:length:options:deallocator:", Failure::kNil),
      method<&Device::new_library>("newLibraryWithSource:options:error:", Failure::kError),
      method<&Device::new_pipeline>("newComputePipelineStateWithFunction:error:", Failure::kError),
      method<&Device::new_pipeline_with_descriptor>(
          "newComputePipelineStateWithDescriptor:options:reflection:error:", Failure::kError),
      method<&Device::new_log_state>("newLogStateWithDescriptor:error:", Failure::kError),
  };
  static const Class& type =
      *new Class({.name = "MTLDevice", .methods = kMethods, .is_protocol = true});
  return type;
}

Object* Device::shared() {
  static Object* device = make<Device>();
  return device;
}

Result Device::name(const Message&) { return give_text("Enceladus Metal simulator"); }

Result Device::supports_family(const Message& message) {
  constexpr uint64_t kApple1 = 1001, kMac2 = 2002, kCommon1 = 3001, kCommon3 = 3003;
  constexpr uint64_t kMetal3 = 5001, kMetal4 = 5002;
  uint64_t family = message.integer(0);
  const Settings& settings = Settings::get();
  bool supported = (family >= kApple1 && family < kApple1 + settings.apple_family) ||
                   family == kMac2 || (family >= kCommon1 && family <= kCommon3) ||
                   family == kMetal3 || (family == kMetal4 && settings.has_metal4);
  return give(uint64_t{supported});
}
Result Device::registry_id(const Message&) { return give(uint64_t{0x51}); }
Result Device::threadgroup_bytes(const Message&) { return give(kThreadgroupBytes); }
Result Device::maximal_buffer_bytes(const Message&) { return give(kMaximalBufferBytes); }
Result Device::working_set(const Message&) { return give(2 * kMaximalBufferBytes); }
Result Device::has_unified_memory(const Message&) { return give(uint64_t{1}); }

Result Device::new_queue(const Message&) {
  return give(make<CommandQueue>(CommandQueue::kCommandBuffers, Ref<LogState>()));
}
Result Device::new_queue_of_size(const Message& message) {
  if (message.integer(0) == 0) throw ContractViolation("a queue of no command buffers");
  return give(make<CommandQueue>(message.integer(0), Ref<LogState>()));
}
Result Device::new_queue_with_descriptor(const Message& message) {
  auto& descriptor = argument<CommandQueueDescriptor>(message, 0);
  return give(make<CommandQueue>(descriptor.command_buffers, descriptor.log_state));
}
Result Device::new_event(const Message&) { return give(make<SharedEvent>()); }

Result Device::new_buffer(const Message& message) {
  return give(Buffer::allocate(message.integer(0), message.integer(1)));
}
Result Device::new_buffer_with_bytes(const Message& message) {
  Object* buffer = Buffer::allocate(message.integer(1), message.integer(2));
  if (buffer != nullptr) {
    std::memcpy(body_of<Buffer>(buffer)->data(), message.pointer<void>(0), message.integer(1));
  }
  return give(buffer);
}
Result Device::new_buffer_without_copy(const Message& message) {
  return give(Buffer::wrap(message.pointer<std::byte>(0), message.integer(1), message.integer(2),
                           Block(message.pointer<void>(3))));
}

Result Device::new_library(const Message& message) {
  const std::string& source = argument<String>(message, 0).text();
  CompileOptions defaults;
  const CompileOptions* options =
      message.object(1) == nullptr ? &defaults : &argument<CompileOptions>(message, 1);
  return give(Library::compile(source, *options, message));
}
Result Device::new_pipeline(const Message& message) {
  return give(Pipeline::build(argument<Function>(message, 0), {}, message, 1));
}
Result Device::new_pipeline_with_descriptor(const Message& message) {
  auto& descriptor = argument<PipelineDescriptor>(message, 0);
  if (!descriptor.function) throw ContractViolation("the descriptor has no computeFunction");
  return give(Pipeline::build(*descriptor.function, descriptor, message, 3));
}
Result Device::new_log_state(const Message& message) {
  argument<LogStateDescriptor>(message, 0);
  return give(make<LogState>());
}

}  // namespace enceladus::fake_metal
