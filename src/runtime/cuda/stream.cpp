#include "runtime/cuda/stream.h"

#include <algorithm>
#include <array>
#include <thread>

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

uint64_t programs_of(const Launch& launch) {
  return static_cast<uint64_t>(launch.grid[0]) * static_cast<uint64_t>(launch.grid[1]) *
         static_cast<uint64_t>(launch.grid[2]);
}

// The kernel may start before the one in front of it in the stream has ended
// (CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).
constexpr LaunchAttribute kOverlaps = {.which = 6, .value = {1}};

LaunchConfiguration configuration(const Launch& launch, const CudaKernel& kernel,
                                  StreamHandle stream) {
  LaunchConfiguration shape{.shared_bytes = static_cast<unsigned>(kernel.artifact().shared_bytes),
                            .stream = stream};
  for (size_t axis = 0; axis < 3; ++axis) {
    shape.grid[axis] = static_cast<unsigned>(launch.grid[axis]);
    shape.block[axis] = static_cast<unsigned>(launch.threads[axis]);
  }
  if (launch.threads[0] == 0) {
    shape.block[0] = static_cast<unsigned>(kernel.threads());
    shape.block[1] = shape.block[2] = 1;
  }
  if (kernel.artifact().is_persistent) {
    shape.grid[0] = static_cast<unsigned>(
        std::min<uint64_t>(programs_of(launch), static_cast<uint64_t>(kernel.resident_programs())));
    shape.grid[1] = shape.grid[2] = 1;
  }
  if (kernel.waits_itself()) {
    shape.attributes = &kOverlaps;
    shape.attribute_count = 1;
  }
  return shape;
}

// The extended call is the slower one.
Result launch_configured(const Driver& driver, const LaunchConfiguration& shape,
                         FunctionHandle function, void** arguments) {
  if (shape.attribute_count)
    return driver.launch_kernel_extended(&shape, function, arguments, nullptr);
  return driver.launch_kernel(function, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0],
                              shape.block[1], shape.block[2], shape.shared_bytes, shape.stream,
                              arguments, nullptr);
}

}  // namespace

CudaEvent::CudaEvent(const Context& context, Timing timing) : context_(context) {
  const Context::Scope scope(context);
  context.check(context.driver().create_event(&handle_, static_cast<unsigned>(timing)),
                "cuEventCreate");
}

CudaEvent::~CudaEvent() {
  if (is_driver_usable()) context_.driver().destroy_event(handle_);
}

int64_t CudaEvent::nanoseconds_until(const Event& later) const {
  const Context::Scope scope(context_);
  float milliseconds = 0;
  const auto& end = static_cast<const CudaEvent&>(later);
  context_.check(context_.driver().elapsed_time(&milliseconds, handle_, end.handle_),
                 "cuEventElapsedTime");
  return static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
}

CudaStream::CudaStream(const Context& context, MemoryPool& pool)
    : context_(context),
      pool_(pool),
      staging_(context, kLegacyStream),
      messages_(pool, staging_),
      marker_(context, CudaEvent::Timing::kOff),
      crossing_(context, CudaEvent::Timing::kOff) {}

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
  const Context::Scope scope(context_);
  auto& kernel = static_cast<CudaKernel&>(*launch.kernel);
  const auto stream =
      launch.native_stream ? static_cast<StreamHandle>(*launch.native_stream) : kLegacyStream;
  const bool is_foreign = stream && stream != kLegacyStream;
  const bool uses_ours = is_foreign && !launch.resources.empty();
  const std::lock_guard lock(mutex_);
  if (uses_ours) order(kLegacyStream, stream);
  if (!is_empty(launch)) launch_kernel(launch, kernel, stream);
  if (uses_ours) order(stream, kLegacyStream);
  if (is_foreign) note_stream(stream);
  const Ticket ticket = newest_.load(std::memory_order_relaxed) + 1;
  newest_.store(ticket, std::memory_order_release);
  kernel.mark_used(this, ticket);
  for (Resource* resource : launch.resources) resource->mark_used(this, ticket);
  names_.add(kernel.artifact().kernel);
  return ticket;
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
  DevicePointer messages = 0;
  if (kernel.has_messages()) {
    messages = messages_.prepare(kernel.artifact(), stream);
    arguments[count++] = &messages;
  }
  context_.check(launch_configured(context_.driver(), configuration(launch, kernel, stream),
                                   kernel.function(), arguments),
                 "cuLaunchKernel", kernel.artifact().kernel);
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
  if (!stream || stream == kLegacyStream) return;
  const Context::Scope scope(context_);
  const std::lock_guard lock(mutex_);
  order(kLegacyStream, stream);
}

void CudaStream::note_stream(StreamHandle stream) {
  if (std::find(foreign_.begin(), foreign_.end(), stream) == foreign_.end())
    foreign_.push_back(stream);
}

Ticket CudaStream::record(Event& event) {
  const Context::Scope scope(context_);
  const std::lock_guard lock(mutex_);
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
    const Ticket covered = newest();
    if (!await_markers(end)) return false;
    if (covered > completed_.load()) completed_.store(covered, std::memory_order_release);
  }
  collect();
  return true;
}

// Waits for everything queued so far in our stream and in those of frameworks that we used.
bool CudaStream::await_markers(std::chrono::steady_clock::time_point end) {
  std::vector<StreamHandle> streams = {kLegacyStream};
  std::string kernels;
  {
    const std::lock_guard lock(mutex_);
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
  }
  const std::lock_guard lock(mutex_);
  foreign_.clear();
  names_.clear();
  return true;
}

void CudaStream::raise_failure() { messages_.raise(); }

// --- Lifetimes ---

void CudaStream::retire(Resource* resource) {
  if (resource->deletes_in_stream_order()) {
    delete resource;
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
