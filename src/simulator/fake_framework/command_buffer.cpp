#include "simulator/fake_framework/command_buffer.h"

#include <chrono>
#include <thread>

#include "simulator/fake_framework/blit_encoder.h"
#include "simulator/fake_framework/compute_encoder.h"
#include "simulator/fake_framework/event.h"
#include "simulator/fake_framework/property.h"
#include "simulator/fake_framework/settings.h"

namespace enceladus::fake_metal {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

const Class& CommandBufferDescriptor::type() {
  using Self = CommandBufferDescriptor;
  static constexpr Method kMethods[] = {
      getter<&Self::retained_references>("retainedReferences"),
      setter<&Self::retained_references>("setRetainedReferences:"),
      getter<&Self::error_options>("errorOptions"),
      setter<&Self::error_options>("setErrorOptions:"),
      getter<&Self::log_state>("logState"),
      setter<&Self::log_state>("setLogState:"),
  };
  static const Class& type =
      *new Class({.name = "MTLCommandBufferDescriptor", .methods = kMethods, .allocate = [] {
                    return make<CommandBufferDescriptor>();
                  }});
  return type;
}

const Class& EncoderInfo::type() {
  static constexpr Method kMethods[] = {
      getter<&EncoderInfo::label>("label"),
      getter<&EncoderInfo::state>("errorState"),
      method<&EncoderInfo::signposts>("debugSignposts"),
  };
  static const Class& type =
      *new Class({.name = "MTLCommandBufferEncoderInfo", .methods = kMethods, .is_protocol = true});
  return type;
}

Result EncoderInfo::signposts(const Message&) {
  std::vector<Ref<Body>> texts;
  for (const std::string& text : signpost_texts) {
    texts.push_back(Ref<Body>::take(make<String>(text)));
  }
  return give(autorelease(make<Array>(std::move(texts))));
}

const Class& CommandBuffer::type() {
  static constexpr Method kMethods[] = {
      method<&CommandBuffer::compute_encoder>("computeCommandEncoder", Failure::kNil),
      method<&CommandBuffer::compute_encoder>("computeCommandEncoderWithDispatchType:",
                                              Failure::kNil),
      method<&CommandBuffer::blit_encoder>("blitCommandEncoder", Failure::kNil),
      method<&CommandBuffer::signal_event>("encodeSignalEvent:value:", Failure::kCommandBuffer),
      method<&CommandBuffer::wait_for_event>("encodeWaitForEvent:value:", Failure::kCommandBuffer),
      method<&CommandBuffer::add_scheduled_handler>("addScheduledHandler:"),
      method<&CommandBuffer::add_completed_handler>("addCompletedHandler:"),
      method<&CommandBuffer::enqueue>("enqueue", Failure::kCommandBuffer),
      method<&CommandBuffer::commit>("commit", Failure::kCommandBuffer),
      method<&CommandBuffer::wait_until_scheduled>("waitUntilScheduled"),
      method<&CommandBuffer::wait_until_completed>("waitUntilCompleted"),
      method<&CommandBuffer::status>("status"),
      method<&CommandBuffer::error>("error"),
      method<&CommandBuffer::start_time>("GPUStartTime"),
      method<&CommandBuffer::end_time>("GPUEndTime"),
      method<&CommandBuffer::start_time>("kernelStartTime"),
      method<&CommandBuffer::end_time>("kernelEndTime"),
      method<&CommandBuffer::queue>("commandQueue"),
      getter<&CommandBuffer::retains_>("retainedReferences"),
      getter<&CommandBuffer::label>("label"),
      setter<&CommandBuffer::label>("setLabel:"),
  };
  static const Class& type =
      *new Class({.name = "MTLCommandBuffer", .methods = kMethods, .is_protocol = true});
  return type;
}

CommandBuffer::CommandBuffer(Ref<CommandQueue> queue, bool retains, uint64_t error_options,
                             Ref<LogState> log_state)
    : queue_(std::move(queue)),
      retains_(retains),
      tells_encoders_((error_options & 1) != 0),
      log_state_(std::move(log_state)) {}

CommandBuffer::~CommandBuffer() {
  // Committed ones are held by the queue until they have run.
  if (status_ == kNotEnqueued) queue_->give_back_slot();
  if (status_ == kEnqueued) {
    Ledger::get().note_violation(
        "a command buffer was enqueued and released without being committed: its queue waits");
  }
}

void CommandBuffer::require_encodable(const char* what) const {
  if (status_ >= kCommitted) {
    throw ContractViolation(std::string(what) + " after the command buffer was committed");
  }
  if (has_open_encoder_) {
    throw ContractViolation(std::string(what) + " while an encoder is open: end it first");
  }
}

void CommandBuffer::open_encoder() {
  require_encodable("an encoder");
  encoders_.push_back(Ref<EncoderInfo>::take(make<EncoderInfo>()));
  has_open_encoder_ = true;
}

void CommandBuffer::end_encoder() { has_open_encoder_ = false; }

void CommandBuffer::add(Command command) {
  size_t encoder = has_open_encoder_ ? encoders_.size() - 1 : kNoEncoder;
  steps_.push_back({encoder, std::move(command)});
}

void CommandBuffer::fail(const std::string& reason) {
  std::lock_guard lock(mutex_);
  if (status_ < kCommitted && !failed_) failed_ = reason;
}

Result CommandBuffer::compute_encoder(const Message&) {
  open_encoder();
  return give(autorelease(make<ComputeEncoder>(Ref<CommandBuffer>(this))));
}
Result CommandBuffer::blit_encoder(const Message&) {
  open_encoder();
  return give(autorelease(make<BlitEncoder>(Ref<CommandBuffer>(this))));
}

Result CommandBuffer::signal_event(const Message& message) {
  require_encodable("encodeSignalEvent:value:");
  Ref<SharedEvent> event(&argument<SharedEvent>(message, 0));
  uint64_t value = message.integer(1);
  add([event, value](CommandRun&) -> std::optional<CommandFailure> {
    event->signal(value);
    return std::nullopt;
  });
  return kNothing;
}

Result CommandBuffer::wait_for_event(const Message& message) {
  require_encodable("encodeWaitForEvent:value:");
  Ref<SharedEvent> event(&argument<SharedEvent>(message, 0));
  uint64_t value = message.integer(1);
  add([event, value](CommandRun&) -> std::optional<CommandFailure> {
    constexpr std::chrono::seconds kMostPatience(10);
    if (event->wait(value, kMostPatience)) return std::nullopt;
    return CommandFailure{CommandError::kTimeout,
                          "waited 10 s for an event to reach " + std::to_string(value)};
  });
  return kNothing;
}

Block CommandBuffer::handler_of(const Message& message) const {
  if (status_ >= kCommitted) {
    throw ContractViolation("a handler is added after the command buffer was committed");
  }
  Block handler(message.pointer<void>(0));
  if (!handler) throw ContractViolation("the handler is nil");
  return handler;
}
Result CommandBuffer::add_scheduled_handler(const Message& message) {
  scheduled_handlers_.push_back(handler_of(message));
  return kNothing;
}
Result CommandBuffer::add_completed_handler(const Message& message) {
  completed_handlers_.push_back(handler_of(message));
  return kNothing;
}

Result CommandBuffer::enqueue(const Message&) {
  std::lock_guard lock(mutex_);
  if (status_ != kNotEnqueued) throw ContractViolation("the command buffer is enqueued already");
  status_ = kEnqueued;
  queue_->enqueue(*this);
  return kNothing;
}

Result CommandBuffer::commit(const Message&) {
  if (has_open_encoder_) {
    throw ContractViolation("the command buffer is committed while an encoder is open");
  }
  {
    std::lock_guard lock(mutex_);
    if (status_ >= kCommitted) throw ContractViolation("the command buffer is committed twice");
    if (status_ == kNotEnqueued) queue_->enqueue(*this);
    status_ = kCommitted;
  }
  queue_->commit(*this);
  return kNothing;
}

void CommandBuffer::wait_for(const bool& reached, const char* what) {
  std::unique_lock lock(mutex_);
  if (status_ < kCommitted) {
    throw ContractViolation(std::string(what) +
                            " of a command buffer that is not committed would never return");
  }
  changed_.wait(lock, [&] { return reached; });
}
Result CommandBuffer::wait_until_scheduled(const Message&) {
  wait_for(is_scheduled_, "waitUntilScheduled");
  return kNothing;
}
Result CommandBuffer::wait_until_completed(const Message&) {
  wait_for(is_finished_, "waitUntilCompleted");
  return kNothing;
}

Result CommandBuffer::status(const Message&) {
  std::lock_guard lock(mutex_);
  return give(uint64_t{status_});
}
Result CommandBuffer::error(const Message&) {
  std::lock_guard lock(mutex_);
  return error_ ? give_held(error_.get()) : kNothing;
}
Result CommandBuffer::start_time(const Message&) {
  std::lock_guard lock(mutex_);
  return give_real(start_);
}
Result CommandBuffer::end_time(const Message&) {
  std::lock_guard lock(mutex_);
  return give_real(end_);
}
Result CommandBuffer::queue(const Message&) { return give_held(queue_.get()); }

void CommandBuffer::call_handlers(std::vector<Block>& handlers) {
  for (const Block& handler : handlers) handler.call(self());
  handlers.clear();
}

std::optional<CommandFailure> CommandBuffer::run_steps(CommandRun& run) {
  if (failed_) return CommandFailure{CommandError::kInvalidResource, *failed_};
  for (Step& step : steps_) {
    std::optional<CommandFailure> failure = step.command(run);
    if (!failure) continue;
    mark_encoders(step.encoder);
    return failure;
  }
  return std::nullopt;
}

void CommandBuffer::mark_encoders(size_t faulted) {
  for (size_t i = 0; i < encoders_.size(); ++i) {
    encoders_[i]->state = i < faulted    ? EncoderInfo::kCompleted
                          : i == faulted ? EncoderInfo::kFaulted
                                         : EncoderInfo::kPending;
  }
}

Ref<Error> CommandBuffer::make_error(const CommandFailure& failure) const {
  std::map<std::string, Ref<Body>> details;
  if (tells_encoders_) {
    std::vector<Ref<Body>> infos;
    for (const Ref<EncoderInfo>& info : encoders_) infos.push_back(Ref<Body>(info.get()));
    details["MTLCommandBufferEncoderInfoErrorKey"] = Ref<Body>::take(make<Array>(std::move(infos)));
  }
  return Ref<Error>::take(make<Error>("MTLCommandBufferErrorDomain",
                                      static_cast<int64_t>(failure.code), failure.text,
                                      Ref<Dictionary>::take(make<Dictionary>(std::move(details)))));
}

// Handlers are called before a waiting thread goes on, as Apple documents it.
void CommandBuffer::run() {
  call_handlers(scheduled_handlers_);
  {
    std::lock_guard lock(mutex_);
    status_ = kScheduled;
    is_scheduled_ = true;
    start_ = now();
  }
  changed_.notify_all();
  CommandRun run;
  std::optional<CommandFailure> failure = run_steps(run);
  if (int64_t delay = Settings::get().completion_delay_us; delay > 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(delay));
  }
  for (LaunchReport& report : run.reports) report.command_buffer = label;
  Ledger::get().note_reports(std::move(run.reports));
  if (log_state_) log_state_->deliver(run.log);
  steps_.clear();  // what it retained is free again
  {
    std::lock_guard lock(mutex_);
    end_ = now();
    if (failure) error_ = make_error(*failure);
    status_ = failure ? kFailed : kCompleted;
  }
  call_handlers(completed_handlers_);
  {
    std::lock_guard lock(mutex_);
    is_finished_ = true;
  }
  changed_.notify_all();
}

}  // namespace enceladus::fake_metal
