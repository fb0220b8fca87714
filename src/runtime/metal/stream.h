// Metal's queue: launches are encoded into one open command buffer on the thread that enqueues
// them, and handed to the device when it is idle, when `flush_every` have gathered, when somebody
// waits for one of them, and by the completed handler when the device has run out of work; so a
// lone launch never waits for company and a burst costs one submission per `flush_every` launches.
//
// Everything is under `mutex_`. `batches_` holds the committed command buffers in order until Metal
// has called their completed handlers. Their tickets complete in order, earlier than that where
// possible: each command buffer signals a shared event behind its launches, and whoever waits spins
// on that value with growing pauses (waiting on the command buffer itself is 15 to 20 us slower on
// an M4 Pro). The handler brings what the signal does not: errors (a failed command buffer signals
// nothing), times, printed lines. It runs on a thread of Metal's, takes the mutex, and wakes those
// who sleep; it destroys nothing of Python's. Metal objects that die are released behind the newest
// command buffer (`release_later`), as command buffers retain nothing.
//
// Launches on arrays of the host that must be copied run synchronously, whoever asks.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "runtime/common/launch_log.h"
#include "runtime/common/stream.h"
#include "runtime/metal/batch_encoder.h"
#include "runtime/metal/host_arrays.h"

namespace enceladus::metal {

struct StreamOptions {
  int32_t flush_every;  // launches of one command buffer
};

class MetalStream : public Stream {
 public:
  // Throws DeviceFailure.
  MetalStream(Context& context, StreamOptions options);

  Ticket try_enqueue(const Launch& launch) override;
  Ticket enqueue(const Launch& launch) override;
  void run_now(const Launch& launch) override;
  Ticket record(Event& event) override;
  bool is_complete(Ticket ticket) const override {
    return completed_.load(std::memory_order_acquire) >= ticket;
  }
  Ticket newest() const override { return newest_.load(std::memory_order_acquire); }
  bool wait(Ticket ticket, std::chrono::nanoseconds limit) override;
  void raise_failure() override { log_.raise_failure(); }
  std::string take_printed() override { return log_.take_printed(); }
  void retire(Resource* resource) override;

  // Sets bytes of a buffer behind everything queued.
  Ticket fill(Id buffer, uint64_t bytes, uint8_t value);
  // Records what runs on the device into a trace document at a path that does not exist yet, until
  // it is stopped. Both wait for what is queued. Throw DeviceFailure.
  void start_capture(const std::string& path);
  void stop_capture();
  // Releases a Metal object once no command buffer that is under way can use it. Takes no lock that
  // is held while something is destroyed.
  void release_later(Owned object);
  // In a process that was forked, Metal cannot be used: every call throws from now on.
  void abandon() { is_abandoned_.store(true, std::memory_order_relaxed); }

  // More command buffers than this under way make an enqueue wait; Metal itself blocks above 64.
  static constexpr size_t kMostBatches = 48;

 private:
  using Lock = std::unique_lock<std::mutex>;
  static void completed_handler(Block* block, Id command_buffer);
  static void log_handler(Block* block, Id subsystem, Id category, int64_t level, Id message);

  void check_usable() const;
  bool is_full() const { return !open_ && batches_.size() >= kMostBatches; }
  void wait_for_room();
  void wait_for(Ticket ticket);
  BatchEncoder& open_batch(bool prints);
  Ticket encode(const Launch& launch, const HostArrays* host_arrays);
  Ticket finish_encoding();
  using BoundPointers = std::array<BoundPointer, kMostBuffers>;
  std::span<const BoundPointer> bind_pointers(const Launch& launch, const HostArrays& host_arrays);
  BoundPointer bind_pointer(const Launch& launch, const HostArrays& host_arrays, uint32_t parameter,
                            const AddressMap::Reader& addresses) const;
  Ticket give_ticket();
  void commit_open();
  void flush_if_idle();

  bool advance();
  bool is_finished(const Batch& batch) const;
  void complete(Batch& batch);
  void handle(Id command_buffer);
  void report_assertions(Batch& batch);
  void report_error(const Batch& batch, Id command_buffer);
  bool poll(Ticket ticket);
  void collect();
  void take_garbage();

  Context& context_;
  const Api& api_;
  const StreamOptions options_;
  Owned queue_;
  Owned event_;
  Owned log_state_;  // made for the first kernel that prints
  Block completed_block_;
  Block log_block_;
  std::atomic<bool> is_abandoned_{false};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<BatchEncoder> open_;
  bool open_prints_ = false;
  BoundPointers pointers_;  // of the launch that is being encoded
  bool is_capturing_ = false;
  std::deque<std::unique_ptr<Batch>> batches_;
  std::atomic<size_t> under_way_{0};  // how many batches_ holds
  std::atomic<Ticket> newest_{0};
  std::atomic<Ticket> completed_{0};
  uint64_t signals_ = 0;
  int64_t last_end_ = 0;
  std::vector<Ref<Event>> expecting_;  // events that learn when the next batch begins
  LaunchLog log_;

  std::mutex garbage_mutex_;
  std::vector<Owned> garbage_;
  std::atomic<bool> has_garbage_{false};

  std::mutex retiring_;
  std::vector<Resource*> retired_;
  std::atomic<size_t> retired_count_{0};
};

}  // namespace enceladus::metal
