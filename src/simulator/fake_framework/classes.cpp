#include "simulator/fake_framework/classes.h"

#include "simulator/fake_framework/blit_encoder.h"
#include "simulator/fake_framework/buffer.h"
#include "simulator/fake_framework/capture.h"
#include "simulator/fake_framework/command_buffer.h"
#include "simulator/fake_framework/command_queue.h"
#include "simulator/fake_framework/compute_encoder.h"
#include "simulator/fake_framework/device.h"
#include "simulator/fake_framework/event.h"
#include "simulator/fake_framework/foundation.h"
#include "simulator/fake_framework/library.h"
#include "simulator/fake_framework/log_state.h"
#include "simulator/fake_framework/pipeline.h"
#include "simulator/fake_framework/settings.h"

namespace enceladus::fake_metal {

std::span<const Class* const> all_classes() {
  static const Class* const kAll[] = {
      &String::type(),
      &Error::type(),
      &Array::type(),
      &Dictionary::type(),
      &Url::type(),
      &ProcessInfo::type(),
      &Device::type(),
      &CompileOptions::type(),
      &FunctionConstants::type(),
      &Library::type(),
      &Function::type(),
      &PipelineDescriptor::type(),
      &Pipeline::type(),
      &Buffer::type(),
      &SharedEvent::type(),
      &CommandQueueDescriptor::type(),
      &CommandQueue::type(),
      &CommandBufferDescriptor::type(),
      &CommandBuffer::type(),
      &EncoderInfo::type(),
      &ComputeEncoder::type(),
      &BlitEncoder::type(),
      &LogStateDescriptor::type(),
      &LogState::type(),
      &CaptureManager::type(),
      &CaptureDescriptor::type(),
  };
  return kAll;
}

Object* class_named(std::string_view name) {
  const bool is_of_logs = name == LogStateDescriptor::type().name();
  if (is_of_logs && !Settings::get().has_logs) return nullptr;
  for (const Class* type : all_classes()) {
    if (!type->is_protocol() && name == type->name()) return type->object();
  }
  return nullptr;
}

}  // namespace enceladus::fake_metal
