#include "runtime/cuda/stream.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <thread>
#include <utility>

#include "runtime/cuda/host_arrays.h"

namespace enceladus::cuda {
namespace {

// A short wait is polled, a long one sleeps between looks.
constexpr std::chrono::microseconds kPolling(500);
constexpr std::chrono::microseconds kSleep(50);
// Retired resources from which on it is worth looking whether the device has passed them.
constexpr size_t kManyRetired = 64;
// Run-time parameters of a kernel (bindings allow 128), tensor maps, grid and messages.
constexpr size_t kMostArguments = 160;

bool is_empty(const Launch& launch) {
  return launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0;
}

// Nobody but this stream orders what uses the memory, and the device runs all programs in one go: a
// launch that takes long gains nothing by company.
bool may_be_held(const Launch& launch, const CudaKernel& kernel) {
  if (launch.native_stream || !kernel.is_plain()) return false;
  if (programs_of(launch) > static_cast<uint64_t>(kernel.resident_programs())) return false;
  return std::none_of(launch.resources.begin(), launch.resources.end(),
                      [](const Resource* resource) { return resource->is_exposed(); });
}

// While one of these lives, this thread's calls do not end captures of other threads.
class Unobtrusive {
 public:
  explicit Unobtrusive(const Driver& driver) : driver_(driver) { exchange(); }
  ~Unobtrusive() { exchange(); }

 private:
  void exchange() { driver_.exchange_capture_mode(&mode_); }
  const Driver& driver_;
  int mode_ = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED
};

}  // namespace

CudaStream::CudaStream(const Context& context, MemoryPool& pool, const Holding& holding)
    : context_(context),
      pool_(pool),
      staging_(context, kLegacyStream),
      holding_(holding),
      burst_(holding),
      held_(context),
      marker_(context, CudaEvent::Timing::kOff),
      crossing_(context, CudaEvent::Timing::kOff),
      flusher_([this] { return hand_over_stale(); }) {}

// --- Launching ---

Ticket CudaStream::try_enqueue(const Launch& launch) {
  return launch.host_arrays.empty() ? submit(launch) : 0;
}

Ticket CudaStream::enqueue(const Launch& launch) {
  if (launch.host_arrays.empty()) return submit(launch);
  run_now(launch);
  return newest();
}

void CudaStream::run_now(const Launch& launch) {
  if (launch.host_arrays.empty()) {
    submit(launch);
    return synchronize();
  }
  HostArrays arrays(launch, pool_, staging_);
  Launch on_device = launch;
  on_device.parameters = arrays.parameters();
  on_device.host_arrays = {};
  submit(on_device);
  synchronize();  // names the kernel of an error, which copying would not
  arrays.copy_back();
}

Ticket CudaStream::submit(const Launch& launch) {
  context_.check_usable();
  auto& kernel = static_cast<CudaKernel&>(*launch.kernel);
  const std::lock_guard lock(mutex_);
  if (!hold(launch, kernel)) submit_now(launch, kernel);
  const Ticket ticket = newest_.load(std::memory_order_relaxed) + 1;
  newest_.store(ticket, std::memory_order_release);
  kernel.mark_used(this, ticket);
  for (Resource* resource : launch.resources) resource->mark_used(this, ticket);
  names_.add(kernel.artifact().kernel);
  return ticket;
}

void CudaStream::submit_now(const Launch& launch, CudaKernel& kernel) {
  const Context::Scope scope(context_);
  const auto stream = launch.native_stream && *launch.native_stream
                          ? static_cast<StreamHandle>(*launch.native_stream)
                          : kLegacyStream;
  const bool is_foreign = stream != kLegacyStream;
  const bool uses_ours = is_foreign && !launch.resources.empty();
  if (!is_foreign || uses_ours) hand_over();
  if (uses_ours) order(kLegacyStream, stream);
  if (!is_empty(launch)) launch_kernel(launch, kernel, stream);
  if (uses_ours) order(stream, kLegacyStream);
  if (is_foreign) note_stream(stream);
}

void CudaStream::launch_kernel(const Launch& launch, CudaKernel& kernel, StreamHandle stream) {
  void* arguments[kMostArguments];
  size_t count = 0;
  for (const uint64_t& slot : launch.parameters)
    arguments[count++] = const_cast<uint64_t*>(&slot);  // the driver only reads
  for (EncodedMap& map : kernel.tensor_maps().encode(context_, launch.parameters))
    arguments[count++] = &map;
  std::array<uint32_t, 3> extents{};
  if (kernel.artifact().is_persistent)
    for (size_t axis = 0; axis < 3; ++axis) {
      extents[axis] = static_cast<uint32_t>(launch.grid[axis]);
      arguments[count++] = &extents[axis];
    }
  uint32_t* words = kernel.message_words();
  if (words) {
    messages_.add(kernel);
    arguments[count++] = &words;
  }
  if (kernel.prints()) has_printed_ = true;
  context_.check(launch_configured(context_.driver(), kernel.configuration(launch, stream),
                                   kernel.function(), arguments),
                 "cuLaunchKernel", kernel.artifact().kernel);
}

// --- Holding back ---

// Whether the launch was held. One that cannot be is none of a burst, so no clock is read for it.
bool CudaStream::hold(const Launch& launch, CudaKernel& kernel) {
  if (!may_be_held(launch, kernel)) return false;
  const Clock::time_point now = Clock::now();
  if (!burst_.add(now)) return false;
  if (is_empty(launch)) return true;
  KernelCall& call = held_.add();
  call.function = kernel.function();
  call.shape = kernel.configuration(launch, kLegacyStream);
  call.name = &kernel.artifact().kernel;
  call.argument_count = launch.parameters.size();
  std::copy(launch.parameters.begin(), launch.parameters.end(), call.arguments.begin());
  const Clock::rep time = now.time_since_epoch().count();
  newest_held_.store(time, std::memory_order_relaxed);
  if (held_.size() == 1) oldest_held_.store(time, std::memory_order_relaxed);
  held_count_.store(held_.size());
  if (held_.size() >= burst_.batch()) {
    hand_over();
    burst_.grow();
  } else if (held_.size() == 1 && !flusher_.watch()) {
    hand_over();
  }
  return true;
}

// Under `mutex_`. Never throws: what the driver refuses is raised by the next synchronization.
void CudaStream::hand_over() {
  if (held_.size() == 0) return;
  try {
    const Context::Scope scope(context_);
    if (std::exception_ptr failure = held_.submit(kLegacyStream)) log_.add_failure(failure);
  } catch (...) {
    log_.add_failure(std::current_exception());
  }
  held_.clear();
  held_count_.store(0);
  for (Resource* resource : released_) delete resource;
  released_.clear();
}

void CudaStream::flush() {
  if (held_count_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  hand_over();
}

// Called by the flusher's thread; whether anything is held still.
bool CudaStream::hand_over_stale() {
  if (held_count_.load() == 0) return false;
  const auto age = [now = Clock::now()](const std::atomic<Clock::rep>& since) {
    return now.time_since_epoch() - Clock::duration(since.load(std::memory_order_relaxed));
  };
  if (age(newest_held_) < 2 * holding_.longest_gap && age(oldest_held_) < holding_.longest_held)
    return true;
  const Unobtrusive mode(context_.driver());
  flush();
  return false;
}

// What is queued in `second` from here on waits for what is in `first`. A stream that is being
// captured into a graph must not wait for one that is not, so there the caller's order holds.
void CudaStream::order(StreamHandle first, StreamHandle second) {
  const Driver& driver = context_.driver();
  int is_captured = 0;
  const StreamHandle foreign = first == kLegacyStream ? second : first;
  context_.check(driver.stream_capture_status(foreign, &is_captured), "cuStreamIsCapturing");
  if (is_captured) return;
  context_.check(driver.record_event(crossing_.handle(), first), "cuEventRecord");
  context_.check(driver.stream_wait_event(second, crossing_.handle(), 0), "cuStreamWaitEvent");
}

void CudaStream::make_wait(StreamHandle stream) {
  flush();
  if (!stream || stream == kLegacyStream) return;
  const Context::Scope scope(context_);
  const std::lock_guard lock(mutex_);
  hand_over();
  order(kLegacyStream, stream);
}

void CudaStream::wait_for(StreamHandle stream) {
  if (stream == kLegacyStream) return;
  const Context::Scope scope(context_);
  const std::lock_guard lock(mutex_);
  hand_over();  // what is held was launched before
  order(stream, kLegacyStream);
}

void CudaStream::note_stream(StreamHandle stream) {
  if (std::find(foreign_.begin(), foreign_.end(), stream) == foreign_.end())
    foreign_.push_back(stream);
}

Ticket CudaStream::record(Event& event) {
  const Context::Scope scope(context_);
  const std::lock_guard lock(mutex_);
  hand_over();
  context_.check(
      context_.driver().record_event(static_cast<CudaEvent&>(event).handle(), kLegacyStream),
      "cuEventRecord");
  const Ticket ticket = newest_.load(std::memory_order_relaxed) + 1;
  newest_.store(ticket, std::memory_order_release);
  event.mark_used(this, ticket);
  return ticket;
}

// --- Waiting ---

bool CudaStream::wait(Ticket ticket, std::chrono::nanoseconds limit) {
  if (is_complete(ticket)) return true;
  const auto end = std::chrono::steady_clock::now() + limit;
  const Context::Scope scope(context_);
  {
    const std::lock_guard waiting(waiting_);
    Ticket covered = 0;
    if (!await_markers(end, covered)) return false;
    if (covered > completed_.load()) completed_.store(covered, std::memory_order_release);
  }
  collect();
  return true;
}

// Waits for everything queued so far in our stream and in those of frameworks that we used; the
// newest launch of that is `covered`.
bool CudaStream::await_markers(std::chrono::steady_clock::time_point end, Ticket& covered) {
  bool has_printed = false;  // the driver writes the lines when somebody waits in its own way
  std::vector<StreamHandle> streams = {kLegacyStream};
  std::string kernels;
  {
    const std::lock_guard lock(mutex_);
    hand_over();
    burst_.end();
    covered = newest();
    has_printed = std::exchange(has_printed_, false);
    streams.insert(streams.end(), foreign_.begin(), foreign_.end());
    kernels = names_.text();
  }
  const Driver& driver = context_.driver();
  for (const StreamHandle stream : streams) {
    context_.check_pending(driver.record_event(marker_.handle(), stream), "cuEventRecord", kernels);
    const auto polling_end = std::chrono::steady_clock::now() + kPolling;
    Result result;
    while ((result = driver.query_event(marker_.handle())) == kNotReady) {
      const auto now = std::chrono::steady_clock::now();
      if (now > end) return false;
      if (now > polling_end) std::this_thread::sleep_for(kSleep);
    }
    context_.check_pending(result, "the synchronization", kernels);
    if (has_printed) driver.synchronize_stream(stream);
  }
  if (has_printed) std::fflush(stdout);
  const std::lock_guard lock(mutex_);
  foreign_.clear();
  names_.clear();
  return true;
}

void CudaStream::raise_failure() {
  log_.raise_failure();
  messages_.raise();
}

// --- Lifetimes ---

void CudaStream::retire(Resource* resource) {
  if (resource->deletes_in_stream_order()) {
    if (!keep_for_held(resource)) delete resource;
    return;
  }
  bool is_many;
  {
    const std::lock_guard lock(retiring_);
    retired_.push_back(resource);
    is_many = retired_.size() > kManyRetired;
  }
  if (is_many) wait(newest(), std::chrono::nanoseconds(0));
}

// Whether a launch that is held may use the resource, which then is deleted behind it.
bool CudaStream::keep_for_held(Resource* resource) {
  if (held_count_.load() == 0 || !is_driver_usable()) return false;
  const std::lock_guard lock(mutex_);
  if (held_.size() == 0) return false;
  released_.push_back(resource);
  return true;
}

void CudaStream::collect() {
  std::vector<Resource*> ready;
  {
    const std::lock_guard lock(retiring_);
    const auto first = std::stable_partition(
        retired_.begin(), retired_.end(),
        [&](Resource* resource) { return !is_complete(resource->last_ticket()); });
    ready.assign(first, retired_.end());
    retired_.erase(first, retired_.end());
  }
  // Outside the lock: a destructor may take the interpreter lock, or retire something else.
  for (Resource* resource : ready) delete resource;
}

}  // namespace enceladus::cuda
