// Stream: the queue of a device. Launches run in the order in which they were enqueued; several
// threads may enqueue and wait at once. Knows packed parameters, not arrays or Python: nothing
// here needs the interpreter lock, and the caller decides when to give it up.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runtime/common/buffer.h"
#include "runtime/common/event.h"
#include "runtime/common/kernel.h"
#include "runtime/common/resource.h"

namespace enceladus {

// An array in another library's buffer of the same device.
struct ForeignArray {
  uint16_t parameter;
  void* buffer;     // metal: id<MTLBuffer>
  uint64_t offset;  // bytes
};

// One launch, ready to run. Everything is copied or stamped by the stream, so the struct and what
// it points to may be dropped as soon as the call returns.
struct Launch {
  Kernel* kernel = nullptr;
  std::span<const uint64_t> parameters = {};  // one slot per run-time parameter, raw bits
  // [low, high) byte addresses per parameter; may be empty unless artifact.needs_extents.
  std::span<const uint64_t> extents = {};
  std::array<int32_t, 3> grid = {1, 1, 1};     // none negative; a zero launches nothing
  std::array<int32_t, 3> threads = {0, 0, 0};  // of a program; zeros: as the artifact says
  std::span<Resource* const> resources = {};   // what must outlive the launch, besides the kernel
  // Parameters that are addresses of host memory which the device does not share: it copies or maps
  // what `extents` says, reading and writing only what the artifact's parameters say.
  std::span<const uint16_t> host_arrays = {};
  // Metal: the wrapped memory in which each of these lies; empty where one lies in none.
  std::span<Buffer* const> host_memory = {};
  // Metal: parameters whose buffer is not to be found by their address.
  std::span<const ForeignArray> foreign_arrays = {};
  // A framework's own stream on which the launch must run in place of this one.
  std::optional<void*> native_stream = {};
};

class Stream {
 public:
  virtual ~Stream() = default;

  // Queues a launch and returns its ticket, or 0 when the queue is full.
  virtual Ticket try_enqueue(const Launch& launch) = 0;
  // The same, waiting for room when the queue is full.
  virtual Ticket enqueue(const Launch& launch) = 0;
  // Runs what is queued, then the launch, and returns when it is done. Throws LaunchFailure.
  virtual void run_now(const Launch& launch) = 0;
  // Hands over launches that were gathered, to be called before anything else is put into the
  // device's queue, or is told where memory of theirs lies.
  virtual void flush() {}
  // Queues a time stamp.
  virtual Ticket record(Event& event) = 0;

  virtual bool is_complete(Ticket ticket) const = 0;
  // Ticket of the newest launch; 0 before the first.
  virtual Ticket newest() const = 0;
  // Waits until the ticket is complete or the time is over and returns whether it is complete. May
  // run queued launches on the calling thread meanwhile.
  virtual bool wait(Ticket ticket, std::chrono::nanoseconds limit) = 0;
  // The ticket to wait for when the queue is full, so that the next calls find room.
  virtual Ticket ticket_for_room() const { return newest(); }
  // Whether running the launch in place (run_now) may keep the thread for long. Such a launch is
  // better enqueued and waited for, so that the wait can be given up.
  virtual bool may_take_long(const Launch&) { return false; }
  // Gives up every launch up to the ticket: those that have not begun do not run, one that runs
  // ends early where the device can stop it. Each still completes; wait for the ticket to know.
  virtual void abandon(Ticket) {}
  // Throws the first LaunchFailure since the last call, if there was one.
  virtual void raise_failure() = 0;
  // What tl.device_print wrote since the last call.
  virtual std::string take_printed() = 0;

  // Takes over a resource whose last launch is pending, and deletes it some time after.
  virtual void retire(Resource* resource) = 0;

  // Waits for everything queued so far, then raises.
  void synchronize() {
    while (!wait(newest(), std::chrono::hours(1))) {
    }
    raise_failure();
  }
};

}  // namespace enceladus
