#include "runtime/metal/stream.h"

#include <algorithm>
#include <thread>

#include "runtime/common/failure.h"
#include "support/check.h"

namespace enceladus::metal {
namespace {

// A waiter looks on this long before it sleeps until the completed handler wakes it.
constexpr std::chrono::microseconds kSpin(200);
constexpr std::chrono::microseconds kLongestPause(20);

bool launches_nothing(const Launch& launch) {
  return std::any_of(launch.grid.begin(), launch.grid.end(), [](int32_t n) { return n == 0; });
}

// Which kernel an error is about, as far as that is known.
std::string culprit(const Batch& batch, const std::string& error) {
  std::string names;
  for (const Batch::Named& kernel : batch.kernels) {
    // The simulator's reports begin with the name of the kernel in the Metal text.
    if (batch.kernels.size() == 1 || error.starts_with(kernel.entry + ": "))
      return "kernel `" + kernel.name + "`";
    names += (names.empty() ? "`" : ", `") + kernel.name + "`";
  }
  if (names.empty()) return "a command buffer without kernels";
  return "one of the kernels " + names + " (ENCELADUS_FLUSH_EVERY=1 tells which)";
}

// The bytes that an argument has from its first element on.
uint64_t extent_of(const Launch& launch, uint32_t parameter) {
  if (launch.extents.empty()) return BoundPointer::kUnknown;
  return launch.extents[2 * parameter + 1] - launch.parameters[parameter];
}

void pause_for(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

}  // namespace

MetalStream::MetalStream(Context& context, StreamOptions options)
    : context_(context),
      api_(context.api),
      options_(options),
      completed_block_(context.objc, reinterpret_cast<void*>(&completed_handler), this),
      log_block_(context.objc, reinterpret_cast<void*>(&log_handler), this) {
  const Pool pool(context.objc);
  queue_ = api_.new_command_queue(context.device.get());
  if (!queue_) throw DeviceFailure("metal", "newCommandQueue: nil");
  event_ = api_.new_shared_event(context.device.get());
  if (!event_) throw DeviceFailure("metal", "newSharedEvent: nil");
}

void MetalStream::check_usable() const {
  if (is_abandoned_.load(std::memory_order_relaxed))
    throw DeviceFailure("metal",
                        "this process was forked from one that had used Metal, which Metal does "
                        "not allow; start it with the `spawn` method of multiprocessing");
}

// --- Enqueueing: under mutex_ but for what the interface asks for ---

Ticket MetalStream::try_enqueue(const Launch& launch) {
  check_usable();
  const Pool pool(context_.objc);
  const HostArrays arrays(context_, launch);
  if (arrays.has_copies()) return 0;
  const Lock lock(mutex_);
  advance();
  return is_full() ? 0 : encode(launch, &arrays);
}

Ticket MetalStream::enqueue(const Launch& launch) {
  check_usable();
  const Pool pool(context_.objc);
  // What is copied must hold the results of the launches before.
  if (!launch.host_arrays.empty()) wait_for(newest());
  const HostArrays arrays(context_, launch);
  wait_for_room();
  Ticket ticket;
  {
    const Lock lock(mutex_);
    ticket = encode(launch, &arrays);
  }
  if (!arrays.copies_back()) return ticket;
  wait_for(ticket);
  arrays.copy_back();
  return ticket;
}

void MetalStream::run_now(const Launch& launch) {
  wait_for(enqueue(launch));
  raise_failure();
}

void MetalStream::wait_for(Ticket ticket) {
  while (!wait(ticket, std::chrono::hours(1))) {
  }
}

void MetalStream::wait_for_room() {
  Lock lock(mutex_);
  advance();
  while (is_full()) {
    changed_.wait_for(lock, std::chrono::milliseconds(1));
    advance();
  }
}

Ticket MetalStream::give_ticket() {
  const Ticket ticket = newest_.load(std::memory_order_relaxed) + 1;
  newest_.store(ticket, std::memory_order_release);
  return ticket;
}

BatchEncoder& MetalStream::open_batch(bool prints) {
  if (open_ && prints && !open_prints_) commit_open();
  if (open_) return *open_;
  if (prints && is_capturing_)
    throw DeviceFailure("metal",
                        "Metal cannot print from a kernel while a capture records; leave "
                        "tl.device_print out, or capture without it");
  if (prints && !log_state_) {
    Api::Result made = api_.new_log_state(context_.device.get(), log_block_);
    if (!made.object) throw DeviceFailure("metal", "newLogStateWithDescriptor: " + made.error);
    log_state_ = std::move(made.object);
  }
  open_ =
      std::make_unique<BatchEncoder>(context_, queue_.get(), prints ? log_state_.get() : nullptr);
  open_prints_ = prints;
  return *open_;
}

BoundPointer MetalStream::bind_pointer(const Launch& launch, const HostArrays& host_arrays,
                                       uint32_t parameter,
                                       const AddressMap::Reader& addresses) const {
  for (const ForeignArray& array : launch.foreign_arrays)
    if (array.parameter == parameter) return {.buffer = array.buffer, .offset = array.offset};
  const uint64_t address = launch.parameters[parameter];
  const auto end = launch.host_arrays.end();
  const auto host = std::find(launch.host_arrays.begin(), end, parameter);
  if (host != end)
    return host_arrays.find(static_cast<size_t>(host - launch.host_arrays.begin()), address);
  if (const std::optional<BoundPointer> found = addresses.find(address)) return *found;
  const Artifact& artifact = launch.kernel->artifact();
  throw DeviceFailure("metal", "argument `" + artifact.parameters[parameter].name + "` of `" +
                                   artifact.kernel + "` is not memory of this device");
}

std::span<const BoundPointer> MetalStream::bind_pointers(const Launch& launch,
                                                         const HostArrays& host_arrays) {
  const AddressMap::Reader addresses(context_.addresses);
  const auto& kernel = static_cast<const MetalKernel&>(*launch.kernel);
  const size_t count = kernel.layout().pointers.size();
  for (size_t i = 0; i < count; ++i) {
    const uint32_t parameter = kernel.layout().pointers[i].parameter;
    pointers_[i] = bind_pointer(launch, host_arrays, parameter, addresses);
    const uint64_t bytes = extent_of(launch, parameter);
    if (bytes == 0) pointers_[i].offset = 0;  // an offset must lie before a buffer's end
    if (context_.set_extent) pointers_[i].bytes = bytes;
  }
  return {pointers_.data(), count};
}

Ticket MetalStream::encode(const Launch& launch, const HostArrays* host_arrays) {
  auto& kernel = static_cast<MetalKernel&>(*launch.kernel);
  const Artifact& artifact = kernel.artifact();
  ENC_CHECK(launch.parameters.size() == artifact.parameters.size(),
            "parameters do not fit " + artifact.kernel);
  const std::span<const BoundPointer> pointers = bind_pointers(launch, *host_arrays);
  Batch& batch = open_batch(artifact.logs).batch();
  if (!launches_nothing(launch)) open_->encode(kernel, launch, pointers);
  for (Owned& buffer : host_arrays->share_buffers()) batch.garbage.push_back(std::move(buffer));
  const Ticket ticket = newest() + 1;
  kernel.mark_used(this, ticket);
  for (Resource* resource : launch.resources) resource->mark_used(this, ticket);
  return finish_encoding();
}

Ticket MetalStream::finish_encoding() {
  const Ticket ticket = give_ticket();
  open_->batch().last = ticket;
  // What one command buffer may print is limited, so launches that print share none.
  if (open_->batch().launches >= options_.flush_every || open_->batch().prints)
    commit_open();
  else
    flush_if_idle();
  return ticket;
}

Ticket MetalStream::fill(Id buffer, uint64_t bytes, uint8_t value) {
  check_usable();
  const Pool pool(context_.objc);
  wait_for_room();
  const Lock lock(mutex_);
  open_batch(false).fill(buffer, bytes, value);
  return finish_encoding();
}

void MetalStream::start_capture(const std::string& path) {
  check_usable();
  wait_for(newest());
  const Pool pool(context_.objc);
  const Lock lock(mutex_);
  if (is_capturing_) throw DeviceFailure("metal", "a capture is being recorded already");
  if (const std::string reason = api_.start_capture(context_.device.get(), path); !reason.empty())
    throw DeviceFailure("metal", reason);
  is_capturing_ = true;
}

void MetalStream::stop_capture() {
  check_usable();
  wait_for(newest());
  const Pool pool(context_.objc);
  const Lock lock(mutex_);
  if (!is_capturing_) throw DeviceFailure("metal", "no capture is being recorded");
  is_capturing_ = false;
  api_.stop_capture();
}

void MetalStream::commit_open() {
  if (!open_) return;
  const Ticket last = open_->batch().last;
  open_->batch().ahead = std::move(expecting_);
  expecting_.clear();
  under_way_.fetch_add(1, std::memory_order_release);
  batches_.push_back(open_->commit(event_.get(), ++signals_, completed_block_));
  ENC_CHECK(batches_.back()->last == last, "a batch changed while it was committed");
  open_.reset();
}

void MetalStream::flush_if_idle() {
  if (open_ && (batches_.empty() || batches_.back()->is_complete)) commit_open();
}

Ticket MetalStream::record(Event& event) {
  check_usable();
  const Pool pool(context_.objc);
  const Lock lock(mutex_);
  commit_open();
  advance();
  const Ticket ticket = give_ticket();
  event.mark_used(this, ticket);
  expecting_.push_back(Ref<Event>::share(&event));
  if (batches_.empty()) {
    event.set_reached(last_end_);
    event.set_continued(last_end_);
    completed_.store(ticket, std::memory_order_release);
    return ticket;
  }
  Batch& newest = *batches_.back();
  newest.behind.push_back(Ref<Event>::share(&event));
  newest.last = ticket;
  newest.is_complete = false;
  return ticket;
}

// --- Completion ---

bool MetalStream::is_finished(const Batch& batch) const {
  if (batch.is_handled) return true;
  return !batch.waits_for_handler() && api_.signaled_value(event_.get()) >= batch.signal;
}

// Completes what has finished, in order; returns whether anything has.
bool MetalStream::advance() {
  bool any = false;
  for (const std::unique_ptr<Batch>& batch : batches_) {
    if (batch->is_complete) continue;
    if (!is_finished(*batch)) break;
    complete(*batch);
    any = true;
  }
  while (!batches_.empty() && batches_.front()->is_complete && batches_.front()->is_handled) {
    batches_.pop_front();
    under_way_.fetch_sub(1, std::memory_order_release);
  }
  take_garbage();
  if (any) flush_if_idle();
  return any;
}

void MetalStream::complete(Batch& batch) {
  report_assertions(batch);
  // Events are let go once their tickets are complete, so that the last owner may delete them.
  const std::vector<Ref<Event>> ahead = std::move(batch.ahead);
  const std::vector<Ref<Event>> behind = std::move(batch.behind);
  for (const Ref<Event>& event : ahead) event->set_continued(batch.begin);
  for (const Ref<Event>& event : behind) {
    event->set_reached(batch.end);
    event->set_continued(batch.end);
  }
  batch.is_complete = true;
  completed_.store(batch.last, std::memory_order_release);
}

void MetalStream::report_assertions(Batch& batch) {
  for (const Batch::Asserting& asserting : batch.asserting) {
    const FailureRecord& record = *asserting.record;
    if (record.message == 0 || log_.has_failure()) continue;
    const Artifact& artifact = asserting.kernel->artifact();
    const size_t number = record.message - 1;
    const std::string text =
        number < artifact.messages.size() ? artifact.messages[number] : "assertion failed";
    log_.add_failure(std::make_exception_ptr(LaunchFailure(
        FailureKind::kAssertion, artifact.kernel, text,
        {static_cast<int32_t>(record.program[0]), static_cast<int32_t>(record.program[1]),
         static_cast<int32_t>(record.program[2])})));
  }
  batch.asserting.clear();
}

void MetalStream::report_error(const Batch& batch, Id command_buffer) {
  const Id error = api_.error(command_buffer);
  const std::string text = api_.error_text(error);
  const std::string message = culprit(batch, text) + ": " + text;
  if (api_.error_code(error) == kCodePageFault)
    log_.add_failure(std::make_exception_ptr(LaunchFailure(FailureKind::kOutOfBounds, message)));
  else
    log_.add_failure(std::make_exception_ptr(DeviceFailure("metal", message)));
}

void MetalStream::handle(Id command_buffer) {
  const Pool pool(context_.objc);
  {
    const Lock lock(mutex_);
    const auto found =
        std::find_if(batches_.begin(), batches_.end(), [&](const std::unique_ptr<Batch>& batch) {
          return batch->command_buffer.get() == command_buffer;
        });
    if (found == batches_.end()) return;
    Batch& batch = **found;
    if (api_.status(command_buffer) == kStatusError) report_error(batch, command_buffer);
    batch.begin = api_.start_time(command_buffer);
    batch.end = api_.end_time(command_buffer);
    last_end_ = batch.end;
    batch.is_handled = true;
    advance();
  }
  changed_.notify_all();
}

void MetalStream::completed_handler(Block* block, Id command_buffer) {
  static_cast<MetalStream*>(block->context)->handle(command_buffer);
}

void MetalStream::log_handler(Block* block, Id, Id, int64_t, Id message) {
  auto* stream = static_cast<MetalStream*>(block->context);
  const Pool pool(stream->context_.objc);
  stream->log_.add_line(stream->api_.text(message));
}

// --- Waiting ---

bool MetalStream::poll(Ticket ticket) {
  if (is_complete(ticket)) return true;
  const Pool pool(context_.objc);
  const Lock lock(mutex_);
  advance();
  return is_complete(ticket);
}

bool MetalStream::wait(Ticket ticket, std::chrono::nanoseconds limit) {
  check_usable();
  const auto start = std::chrono::steady_clock::now();
  if (!is_complete(ticket)) {
    const Pool pool(context_.objc);
    const Lock lock(mutex_);
    if (open_ && open_->batch().last >= ticket && completed_ < ticket) commit_open();
  }
  bool done = poll(ticket);
  std::chrono::nanoseconds pause(200);
  const auto spin_end = start + std::min<std::chrono::nanoseconds>(kSpin, limit);
  while (!done && std::chrono::steady_clock::now() < spin_end) {
    pause_for(pause);
    pause = std::min<std::chrono::nanoseconds>(2 * pause, kLongestPause);
    done = poll(ticket);
  }
  if (!done) {
    const Pool pool(context_.objc);
    Lock lock(mutex_);
    done = changed_.wait_until(lock, start + limit, [&] {
      advance();
      return is_complete(ticket);
    });
  }
  if (retired_count_.load(std::memory_order_relaxed)) collect();
  return done;
}

// --- Lifetimes ---

void MetalStream::release_later(Owned object) {
  if (is_abandoned_.load(std::memory_order_relaxed)) return object.leak();
  if (under_way_.load(std::memory_order_acquire) == 0) return;
  const Lock lock(garbage_mutex_);
  garbage_.push_back(std::move(object));
  has_garbage_.store(true, std::memory_order_relaxed);
}

void MetalStream::take_garbage() {
  if (!has_garbage_.load(std::memory_order_relaxed)) return;
  std::vector<Owned> taken;
  {
    const Lock lock(garbage_mutex_);
    taken.swap(garbage_);
    has_garbage_.store(false, std::memory_order_relaxed);
  }
  if (batches_.empty()) return;
  for (Owned& object : taken) batches_.back()->garbage.push_back(std::move(object));
}

void MetalStream::retire(Resource* resource) {
  {
    const std::lock_guard lock(retiring_);
    retired_.push_back(resource);
    retired_count_.store(retired_.size(), std::memory_order_relaxed);
  }
  collect();
}

void MetalStream::collect() {
  std::vector<Resource*> ready;
  {
    const std::lock_guard lock(retiring_);
    const auto stays = [&](Resource* resource) { return !is_complete(resource->last_ticket()); };
    const auto first = std::stable_partition(retired_.begin(), retired_.end(), stays);
    ready.assign(first, retired_.end());
    retired_.erase(first, retired_.end());
    retired_count_.store(retired_.size(), std::memory_order_relaxed);
  }
  // Outside the lock: a destructor may take the interpreter lock, or retire something else.
  for (Resource* resource : ready) delete resource;
}

}  // namespace enceladus::metal
