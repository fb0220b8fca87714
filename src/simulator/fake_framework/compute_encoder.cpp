#include "simulator/fake_framework/compute_encoder.h"

#include "simulator/fake_framework/device.h"
#include "simulator/fake_framework/settings.h"

namespace enceladus::fake_metal {
namespace {

std::string slot_text(uint64_t slot) { return "buffer(" + std::to_string(slot) + ")"; }

uint64_t product(const std::array<uint64_t, 3>& size) { return size[0] * size[1] * size[2]; }

std::string text_of(const std::array<uint64_t, 3>& size) {
  return std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " +
         std::to_string(size[2]);
}

std::array<uint32_t, 3> narrow(const std::array<uint64_t, 3>& size) {
  return {static_cast<uint32_t>(size[0]), static_cast<uint32_t>(size[1]),
          static_cast<uint32_t>(size[2])};
}

void check_grid(const std::array<uint64_t, 3>& grid) {
  for (uint64_t count : grid) {
    if (count == 0 || count > UINT32_MAX) {
      throw ContractViolation("a grid of " + text_of(grid) +
                              " threadgroups; each must be 1 to 2^32 - 1");
    }
  }
}

}  // namespace

const Class& ComputeEncoder::type() {
  using Self = ComputeEncoder;
  constexpr Failure kFails = Failure::kCommandBuffer;
  static constexpr Method kMethods[] = {
      method<&Self::set_pipeline>("setComputePipelineState:", kFails),
      method<&Self::set_buffer>("setBuffer:offset:atIndex:", kFails),
      method<&Self::set_buffer_offset>("setBufferOffset:atIndex:", kFails),
      method<&Self::set_buffers>("setBuffers:offsets:withRange:", kFails),
      method<&Self::set_bytes>("setBytes:length:atIndex:", kFails),
      method<&Self::set_threadgroup_memory>("setThreadgroupMemoryLength:atIndex:", kFails),
      method<&Self::dispatch_threadgroups>("dispatchThreadgroups:threadsPerThreadgroup:", kFails),
      method<&Self::dispatch_threads>("dispatchThreads:threadsPerThreadgroup:", kFails),
      method<&Self::use_resource>("useResource:usage:", kFails),
      method<&Self::memory_barrier>("memoryBarrierWithScope:", kFails),
      method<&Self::memory_barrier_of_resources>("memoryBarrierWithResources:count:", kFails),
      method<&Self::insert_signpost>("insertDebugSignpost:"),
      method<&Self::push_group>("pushDebugGroup:"),
      method<&Self::pop_group>("popDebugGroup"),
      method<&Self::set_label>("setLabel:"),
      method<&Self::end_encoding>("endEncoding", kFails),
  };
  static const Class& type =
      *new Class({.name = "MTLComputeCommandEncoder", .methods = kMethods, .is_protocol = true});
  return type;
}

ComputeEncoder::~ComputeEncoder() {
  if (!is_open_) return;
  std::string text = "a MTLComputeCommandEncoder was released without endEncoding";
  Ledger::get().note_violation(text);
  buffer_->fail(text);
  buffer_->end_encoder();
}

void ComputeEncoder::require_open() const {
  if (!is_open_) throw ContractViolation("the encoder has ended");
}

Binding& ComputeEncoder::slot(uint64_t index, const char* what) {
  require_open();
  if (index >= kSlots) {
    throw ContractViolation(std::string(what) + " at index " + std::to_string(index) +
                            ", must be 0 to 30");
  }
  return slots_[index];
}

Result ComputeEncoder::set_pipeline(const Message& message) {
  require_open();
  auto& pipeline = argument<Pipeline>(message, 0);
  pipeline_ = pipeline.self();
  if (buffer_->retains()) retained_pipeline_ = Ref<Pipeline>(&pipeline);
  return kNothing;
}

void ComputeEncoder::bind(uint64_t index, Object* object, uint64_t offset) {
  Binding& binding = slot(index, "a buffer");
  binding = {};
  if (object == nullptr) return;
  Buffer* buffer = body_of<Buffer>(object);
  if (buffer == nullptr) throw ContractViolation("what is bound is no MTLBuffer");
  if (offset >= buffer->bytes()) {
    throw ContractViolation("offset " + std::to_string(offset) + " of a buffer of " +
                            std::to_string(buffer->bytes()) + " bytes");
  }
  binding.buffer = object;
  if (buffer_->retains()) binding.retained = Ref<Buffer>(buffer);
  binding.offset = offset;
  binding.extent = buffer->bytes() - offset;
}

Result ComputeEncoder::set_buffer(const Message& message) {
  if (message.object(0) != nullptr) argument<Buffer>(message, 0);
  bind(message.integer(2), message.object(0), message.integer(1));
  return kNothing;
}

Result ComputeEncoder::set_buffer_offset(const Message& message) {
  Binding& binding = slot(message.integer(1), "an offset");
  if (binding.buffer == nullptr) {
    throw ContractViolation("no buffer is bound to " + slot_text(message.integer(1)));
  }
  Object* buffer = binding.buffer;
  bind(message.integer(1), buffer, message.integer(0));
  return kNothing;
}

Result ComputeEncoder::set_buffers(const Message& message) {
  auto** buffers = message.pointer<Object*>(0);
  auto* offsets = message.pointer<uint64_t>(1);
  uint64_t first = message.integer(2), count = message.integer(3);
  for (uint64_t i = 0; i < count; ++i) bind(first + i, buffers[i], offsets[i]);
  return kNothing;
}

Result ComputeEncoder::set_bytes(const Message& message) {
  uint64_t length = message.integer(1);
  Binding& binding = slot(message.integer(2), "bytes");
  if (length == 0 || length > kMostBytes) {
    throw ContractViolation(std::to_string(length) + " bytes, must be 1 to 4096");
  }
  auto* bytes = message.pointer<std::byte>(0);
  if (bytes == nullptr) throw ContractViolation("the bytes are a null pointer");
  binding = {};
  binding.bytes.assign(bytes, bytes + length);
  return kNothing;
}

void ComputeEncoder::set_extent(uint64_t index, uint64_t bytes) {
  Binding& binding = slot(index, "an extent");
  if (binding.buffer == nullptr || bytes > binding.extent) {
    throw ContractViolation("an extent of " + std::to_string(bytes) + " bytes is more than " +
                            slot_text(index) + " has");
  }
  binding.extent = bytes;
  binding.is_array = true;
}

Result ComputeEncoder::set_threadgroup_memory(const Message& message) {
  require_open();
  uint64_t length = message.integer(0), index = message.integer(1);
  if (index >= kSlots) {
    throw ContractViolation("threadgroup memory at index " + std::to_string(index) +
                            ", must be 0 to 30");
  }
  if (length % 16 != 0 || length > Device::kThreadgroupBytes) {
    throw ContractViolation(std::to_string(length) +
                            " bytes of threadgroup memory, must be a multiple of 16 and at most "
                            "32768");
  }
  threadgroup_bytes_[static_cast<uint32_t>(index)] = length;
  return kNothing;
}

void ComputeEncoder::check_threads(const Pipeline& pipeline, const Size& threads) const {
  uint64_t count = product(threads);
  if (count == 0 || count > pipeline.max_total_threads()) {
    throw ContractViolation("threadgroups of " + text_of(threads) +
                            " threads; the pipeline state allows 1 to " +
                            std::to_string(pipeline.max_total_threads()));
  }
  if (pipeline.whole_simd_groups() && count % Pipeline::kSimdWidth != 0) {
    throw ContractViolation("threadgroups of " + text_of(threads) +
                            " threads, though the pipeline state was promised multiples of 32");
  }
}

void ComputeEncoder::check_binding(const simulator::KernelParameter& parameter,
                                   const Binding& binding) const {
  constexpr uint64_t kConstantAlignment = 4;
  if (!binding.is_bound()) {
    throw ContractViolation("nothing is bound to " + slot_text(parameter.slot) + ", parameter `" +
                            parameter.name + "` of the kernel");
  }
  if (binding.buffer == nullptr && !parameter.is_const) {
    throw ContractViolation("bytes are bound to " + slot_text(parameter.slot) + ", parameter `" +
                            parameter.name + "`, which the kernel may write");
  }
  if (parameter.kind == simulator::ParameterKind::kConstant &&
      binding.offset % kConstantAlignment != 0) {
    throw ContractViolation("offset " + std::to_string(binding.offset) + " of " +
                            slot_text(parameter.slot) +
                            ", must be a multiple of 4 for constant memory");
  }
}

void ComputeEncoder::collect_bindings(const Pipeline& pipeline, Dispatch& launch) const {
  uint64_t threadgroup_bytes = pipeline.static_bytes();
  const bool records = Settings::get().records;
  for (const simulator::KernelParameter& parameter : pipeline.kernel().signature().parameters) {
    if (parameter.kind == simulator::ParameterKind::kBuiltin) continue;
    if (parameter.kind != simulator::ParameterKind::kThreadgroup) {
      check_binding(parameter, slots_[parameter.slot]);
      if (records) launch.bindings.emplace_back(parameter.slot, slots_[parameter.slot]);
      continue;
    }
    auto memory = threadgroup_bytes_.find(parameter.slot);
    if (memory == threadgroup_bytes_.end() || memory->second == 0) {
      throw ContractViolation("no length is set for threadgroup(" + std::to_string(parameter.slot) +
                              "), parameter `" + parameter.name + "`");
    }
    launch.threadgroup_memory.push_back({parameter.slot, memory->second});
    threadgroup_bytes += memory->second;
  }
  if (threadgroup_bytes > Device::kThreadgroupBytes) {
    throw ContractViolation(std::to_string(threadgroup_bytes) +
                            " bytes of threadgroup memory in all, 32768 are possible");
  }
}

void ComputeEncoder::dispatch(const Size& grid, const Size& threads) {
  require_open();
  if (pipeline_ == nullptr) throw ContractViolation("no pipeline state is set");
  const Pipeline* pipeline = body_of<Pipeline>(pipeline_);
  if (pipeline == nullptr) throw ContractViolation("the pipeline state is released already");
  check_grid(grid);
  check_threads(*pipeline, threads);
  Dispatch launch;
  launch.pipeline = pipeline_;
  launch.retained = retained_pipeline_;
  collect_bindings(*pipeline, launch);
  if (!Settings::get().records) return;
  launch.grid = narrow(grid);
  launch.threads = narrow(threads);
  buffer_->add([launch = std::move(launch)](CommandRun& run) { return run_dispatch(launch, run); });
}

Result ComputeEncoder::dispatch_threadgroups(const Message& message) {
  dispatch(message.size(0), message.size(1));
  return kNothing;
}

Result ComputeEncoder::dispatch_threads(const Message& message) {
  Size total = message.size(0), threads = message.size(1), grid{};
  for (int axis = 0; axis < 3; ++axis) {
    if (threads[axis] == 0 || total[axis] % threads[axis] != 0) {
      throw ContractViolation("a grid of " + text_of(total) + " threads in threadgroups of " +
                              text_of(threads) + ": the simulator runs whole threadgroups only");
    }
    grid[axis] = total[axis] / threads[axis];
  }
  dispatch(grid, threads);
  return kNothing;
}

Result ComputeEncoder::use_resource(const Message& message) {
  require_open();
  argument<Buffer>(message, 0);
  return kNothing;
}

// Launches run one after the other here: the barriers have nothing to wait for.
Result ComputeEncoder::memory_barrier(const Message& message) {
  require_open();
  if (message.integer(0) == 0) throw ContractViolation("a barrier of no scope");
  return kNothing;
}
Result ComputeEncoder::memory_barrier_of_resources(const Message& message) {
  require_open();
  auto** resources = message.pointer<Object*>(0);
  for (uint64_t i = 0; i < message.integer(1); ++i) {
    if (body_of<Buffer>(resources[i]) == nullptr) {
      throw ContractViolation("resource " + std::to_string(i) + " is no MTLBuffer");
    }
  }
  return kNothing;
}

Result ComputeEncoder::insert_signpost(const Message& message) {
  require_open();
  buffer_->open_info().signpost_texts.push_back(argument<String>(message, 0).text());
  return kNothing;
}
Result ComputeEncoder::push_group(const Message& message) {
  require_open();
  argument<String>(message, 0);
  ++open_groups_;
  return kNothing;
}
Result ComputeEncoder::pop_group(const Message&) {
  require_open();
  if (open_groups_ == 0) throw ContractViolation("there is no debug group to pop");
  --open_groups_;
  return kNothing;
}
Result ComputeEncoder::set_label(const Message& message) {
  require_open();
  buffer_->open_info().label = argument<String>(message, 0).text();
  return kNothing;
}

Result ComputeEncoder::end_encoding(const Message&) {
  require_open();
  is_open_ = false;
  buffer_->end_encoder();
  if (open_groups_ != 0) throw ContractViolation("a debug group is not popped");
  return kNothing;
}

}  // namespace enceladus::fake_metal
