#include "runtime/metal/batch_encoder.h"

#include <algorithm>
#include <cstring>

#include "runtime/common/failure.h"

namespace enceladus::metal {
namespace {

// Records of failed assertions in one buffer; a batch with more such launches takes another.
constexpr uint64_t kFailureRecords = 64;

[[noreturn]] void fail_call(const char* call) {
  throw DeviceFailure("metal", std::string(call) + ": nil");
}

Size threads_of(const MetalKernel& kernel, const Launch& launch) {
  const Artifact& artifact = kernel.artifact();
  if (launch.threads[0] == 0) return {static_cast<uint64_t>(kSimdWidth * artifact.num_warps), 1, 1};
  return {static_cast<uint64_t>(launch.threads[0]), static_cast<uint64_t>(launch.threads[1]),
          static_cast<uint64_t>(launch.threads[2])};
}

void check_threads(const MetalKernel& kernel, Size threads) {
  const uint64_t count = threads.width * threads.height * threads.depth;
  if (count <= kernel.most_threads()) return;
  throw DeviceFailure(
      "metal", "kernel `" + kernel.artifact().kernel + "` is launched with " +
                   std::to_string(count) + " threads a program, but its registers allow " +
                   std::to_string(kernel.most_threads()) + " on this device; use fewer warps");
}

}  // namespace

BatchEncoder::BatchEncoder(Context& context, Id queue, Id log_state)
    : context_(context), api_(context.api), batch_(std::make_unique<Batch>()) {
  const Owned descriptor = api_.new_command_buffer_descriptor(log_state);
  batch_->command_buffer = Owned::share(context.objc, api_.command_buffer(queue, descriptor.get()));
  if (!batch_->command_buffer) fail_call("commandBufferWithDescriptor");
  encoder_ = Owned::share(context.objc, api_.compute_encoder(batch_->command_buffer.get()));
  if (!encoder_) fail_call("computeCommandEncoder");
}

void BatchEncoder::bind(uint32_t index, BoundPointer pointer) {
  BoundPointer& bound = bound_[index];
  if (bound == pointer) return;
  if (bound.buffer != pointer.buffer)
    api_.set_buffer(encoder_.get(), pointer.buffer, pointer.offset, index);
  else
    api_.set_buffer_offset(encoder_.get(), pointer.offset, index);
  if (context_.set_extent && pointer.bytes != BoundPointer::kUnknown)
    context_.set_extent(encoder_.get(), index, pointer.bytes);
  bound = pointer;
}

void BatchEncoder::bind_failure_record(MetalKernel& kernel) {
  const uint64_t used = batch_->asserting.size() % kFailureRecords;
  if (used == 0) {
    if (batch_->failures) batch_->garbage.push_back(std::move(batch_->failures));
    batch_->failures =
        api_.new_buffer(context_.device.get(), kFailureRecords * sizeof(FailureRecord));
    if (!batch_->failures) fail_call("newBufferWithLength");
  }
  const uint64_t offset = used * sizeof(FailureRecord);
  auto* records = static_cast<FailureRecord*>(api_.contents(batch_->failures.get()));
  if (!records) fail_call("contents");
  batch_->asserting.push_back({&kernel, records + used});
  bind(static_cast<uint32_t>(kernel.layout().failure_index),
       {.buffer = batch_->failures.get(), .offset = offset});
}

void BatchEncoder::encode(MetalKernel& kernel, const Launch& launch,
                          std::span<const BoundPointer> pointers) {
  const Size threads = threads_of(kernel, launch);
  check_threads(kernel, threads);
  const ArgumentLayout& layout = kernel.layout();
  if (layout.failure_index >= 0) bind_failure_record(kernel);
  if (pipeline_ != kernel.pipeline()) {
    pipeline_ = kernel.pipeline();
    api_.set_pipeline(encoder_.get(), pipeline_);
    auto is_kernel = [&](const Batch::Named& known) { return known.kernel == &kernel; };
    if (std::none_of(batch_->kernels.begin(), batch_->kernels.end(), is_kernel))
      batch_->kernels.push_back({&kernel, kernel.artifact().kernel, kernel.artifact().entry});
  }
  for (size_t i = 0; i < layout.pointers.size(); ++i) bind(layout.pointers[i].index, pointers[i]);
  char bytes[kMostScalarBytes];
  for (const ScalarBlock& block : layout.scalars) {
    pack_scalars(block, launch.parameters.data(), bytes);
    api_.set_bytes(encoder_.get(), bytes, block.bytes, block.index);
    bound_[block.index] = {};
  }
  api_.dispatch(encoder_.get(),
                {static_cast<uint64_t>(launch.grid[0]), static_cast<uint64_t>(launch.grid[1]),
                 static_cast<uint64_t>(launch.grid[2])},
                threads);
  batch_->prints = batch_->prints || kernel.artifact().logs;
  ++batch_->launches;
}

void BatchEncoder::fill(Id buffer, uint64_t bytes, uint8_t value) {
  api_.end_encoding(encoder_.get());
  pipeline_ = nullptr;
  bound_ = {};
  encoder_ = Owned::share(context_.objc, api_.blit_encoder(batch_->command_buffer.get()));
  if (!encoder_) fail_call("blitCommandEncoder");
  api_.fill_buffer(encoder_.get(), buffer, {0, bytes}, value);
  api_.end_encoding(encoder_.get());
  encoder_ = Owned::share(context_.objc, api_.compute_encoder(batch_->command_buffer.get()));
  if (!encoder_) fail_call("computeCommandEncoder");
}

std::unique_ptr<Batch> BatchEncoder::commit(Id event, uint64_t signal, const Block& completed) {
  const Id command_buffer = batch_->command_buffer.get();
  if (encoder_) api_.end_encoding(encoder_.get());
  encoder_ = Owned();
  api_.encode_signal(command_buffer, event, signal);
  api_.add_completed_handler(command_buffer, completed);
  batch_->signal = signal;
  api_.commit(command_buffer);
  return std::move(batch_);
}

}  // namespace enceladus::metal
