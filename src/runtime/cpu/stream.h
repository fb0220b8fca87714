// The CPU's queue: launches run first in, first out, on a dispatcher thread that leads the worker
// pool, or on a thread that waits for them.
//
// Protocol. The ring's slots are numbered by tickets from 1. `produced_` is the newest ticket,
// written under `producer_`; `completed_` is the newest one that has run, written under
// `consumer_`. A slot belongs to producers while ticket > completed_ + kSlots would not hold for
// its next use, to the consumer once `produced_` has reached it; the release store of each counter
// hands it over. Whoever holds `consumer_` may run slots: the dispatcher as a rule; a thread in
// `wait` when the dispatcher is asleep, so that a lone launch takes no thread hop; `run_now`, which
// first runs what was queued before it and then its own launch in place. Dispatcher: spins for
// `kDispatcherSpin`, then sets `parked_`, looks at the ring once more and sleeps on the flag. A
// producer publishes first and looks at the flag after, both sequentially consistent; the one that
// takes the flag down wakes the dispatcher, so that a burst of launches costs one wake-up. Waiters
// sleep on a condition variable. `wake_at_` is the lowest ticket anybody sleeps for, so that the
// consumer pays one load a launch; it is stored before the waiter's last look at `completed_`, and
// the consumer reads it after storing `completed_`, again in one total order. Resources carry the
// ticket of their last launch (runtime/common/resource.h) and are deleted by whoever finds them
// complete; what belongs to Python is left to host threads. Abandoning only raises `abandoned_`: a
// launch with a ticket up to it is skipped, or left by the kernel itself; it completes as ever.
// A waiting thread leaves launches that may take long to the dispatcher, so that it can always come
// back and give up. Fork: `before_fork` runs the queue
// empty and takes every lock, so the child finds them consistent and starts threads of its own.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/common/stream.h"
#include "runtime/cpu/executor.h"

namespace enceladus::cpu {

class CpuStream : public Stream {
 public:
  explicit CpuStream(int threads);
  // Runs what is queued, then stops the threads.
  ~CpuStream() override;

  Ticket try_enqueue(const Launch& launch) override;
  Ticket enqueue(const Launch& launch) override;
  void run_now(const Launch& launch) override;
  Ticket record(Event& event) override;
  bool is_complete(Ticket ticket) const override {
    return completed_.load(std::memory_order_acquire) >= ticket;
  }
  Ticket newest() const override { return produced_.load(std::memory_order_acquire); }
  bool wait(Ticket ticket, std::chrono::nanoseconds limit) override;
  Ticket ticket_for_room() const override { return newest() - kSlots / 2; }
  // Also true while other launches run or are queued, which would come first.
  bool may_take_long(const Launch& launch) override;
  void abandon(Ticket ticket) override;
  void raise_failure() override { executor_.log().raise_failure(); }
  std::string take_printed() override { return executor_.log().take_printed(); }
  void retire(Resource* resource) override;

  int threads() { return executor_.pool().threads(); }

  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

  static constexpr uint64_t kSlots = 512;

 private:
  static constexpr size_t kInlineParameters = 32;
  struct Slot {
    PreparedLaunch launch;  // kernel is null for an event
    Event* event = nullptr;
    std::array<uint64_t, kInlineParameters> parameters;
    std::array<uint64_t, 2 * kInlineParameters> extents;
    // Parameters and extents of a kernel with more of them; the one case that allocates.
    std::vector<uint64_t> many;
  };
  enum class Deleter { kHost, kDispatcher };

  Slot& slot(Ticket ticket) { return slots_[ticket % kSlots]; }
  static PreparedLaunch prepare(const Launch& launch);
  void fill(Slot& slot, const Launch& launch);
  Ticket next_free_ticket();
  void publish(Ticket ticket);

  void dispatch();
  void park_dispatcher();
  bool has_pending() const {
    return produced_.load(std::memory_order_acquire) != completed_.load(std::memory_order_relaxed);
  }
  void run_pending(Ticket last);
  void run_next();
  void execute(const PreparedLaunch& launch);
  void stamp(Event& event);
  bool help(Ticket ticket, std::chrono::steady_clock::time_point end);
  bool sleep_until_complete(Ticket ticket, std::chrono::steady_clock::time_point end);
  void collect(Deleter deleter);

  std::unique_ptr<Slot[]> slots_;

  alignas(64) std::mutex producer_;
  std::atomic<Ticket> produced_{0};
  Ticket completed_seen_ = 0;  // under producer_
  std::thread dispatcher_;     // started by the first launch

  alignas(64) std::mutex consumer_;
  std::atomic<Ticket> completed_{0};
  std::atomic<int> runners_{0};  // threads in run_now that want `consumer_`
  Executor executor_;
  // Recorded since the last launch: they learn when the next one begins.
  std::vector<Ref<Event>> expecting_events_;
  std::atomic<Ticket> abandoned_{0};  // compiled kernels read it as a plain number

  alignas(64) std::atomic<uint32_t> parked_{0};
  std::atomic<bool> dispatcher_is_awake_{false};
  std::atomic<bool> stopping_{false};

  alignas(64) std::atomic<Ticket> wake_at_{UINT64_MAX};
  std::mutex waiting_;
  std::condition_variable completed_changed_;
  int sleepers_ = 0;  // under waiting_

  std::mutex retiring_;
  std::vector<Resource*> retired_;
  std::atomic<size_t> retired_count_{0};
};

}  // namespace enceladus::cpu
