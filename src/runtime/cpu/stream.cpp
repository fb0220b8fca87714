#include "runtime/cpu/stream.h"

#include <algorithm>
#include <memory>

#include "runtime/cpu/spin.h"
#include "support/check.h"

namespace enceladus::cpu {
namespace {

constexpr std::chrono::microseconds kDispatcherSpin(75);
// A waiter looks on this long before it sleeps: small launches are done by then, and long ones need
// the processor more than it does.
constexpr std::chrono::microseconds kWaiterSpin(10);
// A launch that takes longer is none for a thread that must look at signals.
constexpr double kLongNanoseconds = 20e6;

bool takes_long(const PreparedLaunch& launch) {
  if (launch.kernel == nullptr) return false;
  if (launch.kernel->artifact().may_not_end || !launch.kernel->has_run()) return true;
  const auto programs = static_cast<double>(program_count(launch.grid));
  return programs * launch.kernel->nanoseconds_per_program() > kLongNanoseconds;
}

}  // namespace

CpuStream::CpuStream(int threads) : slots_(std::make_unique<Slot[]>(kSlots)), executor_(threads) {
  expecting_events_.reserve(16);
}

CpuStream::~CpuStream() {
  while (!wait(newest(), std::chrono::hours(1))) {
  }
  stopping_.store(true);
  parked_.exchange(0);
  parked_.notify_one();
  if (dispatcher_.joinable()) dispatcher_.join();
  expecting_events_.clear();
  collect(Deleter::kHost);
}

// --- Producing ---

PreparedLaunch CpuStream::prepare(const Launch& launch) {
  const Artifact& artifact = launch.kernel->artifact();
  const size_t count = launch.parameters.size();
  ENC_CHECK(count == artifact.parameters.size(), "parameters do not fit " + artifact.kernel);
  ENC_CHECK(
      launch.extents.size() == 2 * count || (launch.extents.empty() && !artifact.needs_extents),
      "extents do not fit " + artifact.kernel);
  const auto programs = static_cast<double>(program_count(launch.grid));
  int64_t bytes = static_cast<int64_t>(programs * artifact.bytes_per_program);
  if (!launch.extents.empty()) {
    // Programs that read the same memory do not touch more of it.
    uint64_t reachable = 0;
    for (size_t i = 0; i < launch.extents.size(); i += 2)
      reachable += launch.extents[i + 1] - launch.extents[i];
    bytes = std::min(bytes, static_cast<int64_t>(reachable));
  }
  return {.kernel = static_cast<CpuKernel*>(launch.kernel),
          .parameters = launch.parameters.data(),
          .extents = artifact.needs_extents ? launch.extents.data() : nullptr,
          .grid = launch.grid,
          .bytes = bytes};
}

void CpuStream::fill(Slot& slot, const Launch& launch) {
  slot.launch = prepare(launch);
  slot.launch.abandoned = reinterpret_cast<const uint64_t*>(&abandoned_);
  slot.event = nullptr;
  if (program_count(launch.grid) == 0) slot.launch.kernel = nullptr;  // nothing but a ticket
  const size_t count = launch.parameters.size();
  uint64_t* parameters = slot.parameters.data();
  uint64_t* extents = slot.extents.data();
  if (count > kInlineParameters) {
    slot.many.resize(3 * count);
    parameters = slot.many.data();
    extents = parameters + count;
  }
  std::copy(launch.parameters.begin(), launch.parameters.end(), parameters);
  slot.launch.parameters = parameters;
  if (!slot.launch.extents) return;
  std::copy(launch.extents.begin(), launch.extents.end(), extents);
  slot.launch.extents = extents;
}

void CpuStream::publish(Ticket ticket) {
  produced_.store(ticket);
  if (!dispatcher_.joinable())
    dispatcher_ = std::thread([this] { dispatch(); });
  else if (parked_.load() && parked_.exchange(0))
    parked_.notify_one();
}

// The next ticket, or 0 while its slot is still in use. Looks at the consumer's counter only when
// what it last saw there no longer does.
Ticket CpuStream::next_free_ticket() {
  const Ticket ticket = produced_.load(std::memory_order_relaxed) + 1;
  if (ticket > completed_seen_ + kSlots)
    completed_seen_ = completed_.load(std::memory_order_acquire);
  return ticket > completed_seen_ + kSlots ? 0 : ticket;
}

Ticket CpuStream::try_enqueue(const Launch& launch) {
  const std::lock_guard lock(producer_);
  const Ticket ticket = next_free_ticket();
  if (ticket == 0) return 0;
  fill(slot(ticket), launch);
  slot(ticket).launch.ticket = ticket;
  launch.kernel->mark_used(this, ticket);
  for (Resource* resource : launch.resources) resource->mark_used(this, ticket);
  publish(ticket);
  return ticket;
}

Ticket CpuStream::enqueue(const Launch& launch) {
  for (;;) {
    if (const Ticket ticket = try_enqueue(launch)) return ticket;
    wait(ticket_for_room(), std::chrono::hours(1));
  }
}

Ticket CpuStream::record(Event& event) {
  for (;;) {
    {
      const std::lock_guard lock(producer_);
      if (const Ticket ticket = next_free_ticket()) {
        slot(ticket).launch = {};
        slot(ticket).event = &event;
        event.mark_used(this, ticket);
        publish(ticket);
        return ticket;
      }
    }
    wait(ticket_for_room(), std::chrono::hours(1));
  }
}

// --- Consuming: all of this under consumer_ ---

void CpuStream::run_pending(Ticket last) {
  while (completed_.load(std::memory_order_relaxed) < last) run_next();
}

void CpuStream::run_next() {
  const Ticket ticket = completed_.load(std::memory_order_relaxed) + 1;
  Slot& next = slot(ticket);
  if (next.event)
    stamp(*next.event);
  else if (next.launch.kernel && !next.launch.is_abandoned())
    execute(next.launch);
  completed_.store(ticket);
  if (wake_at_.load() > ticket) return;
  const std::lock_guard lock(waiting_);
  completed_changed_.notify_all();
}

void CpuStream::execute(const PreparedLaunch& launch) {
  executor_.run(launch);
  if (expecting_events_.empty()) return;
  for (Ref<Event>& event : expecting_events_) event->set_continued(executor_.last_begin());
  expecting_events_.clear();
}

void CpuStream::stamp(Event& event) {
  const int64_t now = executor_.last_end() ? executor_.last_end() : clock_nanoseconds();
  event.set_reached(now);
  event.set_continued(now);
  expecting_events_.push_back(Ref<Event>::share(&event));
}

void CpuStream::dispatch() {
  const auto ready = [this] { return has_pending() || stopping_.load(std::memory_order_relaxed); };
  for (;;) {
    dispatcher_is_awake_.store(true, std::memory_order_relaxed);
    while (spin_until(ready, kDispatcherSpin)) {
      if (stopping_.load()) return;
      if (runners_.load(std::memory_order_relaxed)) std::this_thread::yield();
      const std::lock_guard lock(consumer_);
      while (has_pending() && runners_.load(std::memory_order_relaxed) == 0) run_next();
    }
    collect(Deleter::kDispatcher);
    park_dispatcher();
  }
}

void CpuStream::park_dispatcher() {
  dispatcher_is_awake_.store(false, std::memory_order_relaxed);
  parked_.store(1);
  if (has_pending() || stopping_.load()) {
    parked_.store(0);
    return;
  }
  parked_.wait(1);
}

void CpuStream::run_now(const Launch& launch) {
  if (program_count(launch.grid) == 0) return;
  const PreparedLaunch prepared = prepare(launch);
  const Ticket before = newest();
  runners_.fetch_add(1);
  {
    const std::lock_guard lock(consumer_);
    runners_.fetch_sub(1);
    run_pending(before);
    execute(prepared);
  }
  raise_failure();
}

// --- Waiting ---

bool CpuStream::wait(Ticket ticket, std::chrono::nanoseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  const auto is_done = [&] { return is_complete(ticket); };
  bool done = is_done() || help(ticket, end) ||
              spin_until(is_done, std::min<std::chrono::nanoseconds>(limit, kWaiterSpin));
  if (!done) done = sleep_until_complete(ticket, end);
  if (retired_count_.load(std::memory_order_relaxed)) collect(Deleter::kHost);
  return done;
}

// Runs queued launches here unless the dispatcher is on its way; returns whether the ticket is
// complete.
bool CpuStream::help(Ticket ticket, std::chrono::steady_clock::time_point end) {
  if (dispatcher_is_awake_.load(std::memory_order_relaxed)) return false;
  const std::unique_lock lock(consumer_, std::try_to_lock);
  if (!lock) return false;
  const auto next_is_short = [&] {
    return !takes_long(slot(completed_.load(std::memory_order_relaxed) + 1).launch);
  };
  while (!is_complete(ticket) && next_is_short() && std::chrono::steady_clock::now() < end)
    run_next();
  return is_complete(ticket);
}

bool CpuStream::may_take_long(const Launch& launch) {
  const std::unique_lock lock(consumer_, std::try_to_lock);
  return !lock || has_pending() || takes_long(prepare(launch));
}

void CpuStream::abandon(Ticket ticket) {
  static_assert(sizeof(abandoned_) == sizeof(uint64_t) &&
                decltype(abandoned_)::is_always_lock_free);
  Ticket newest = abandoned_.load();
  while (newest < ticket && !abandoned_.compare_exchange_weak(newest, ticket)) {
  }
}

bool CpuStream::sleep_until_complete(Ticket ticket, std::chrono::steady_clock::time_point end) {
  std::unique_lock lock(waiting_);
  ++sleepers_;
  bool done;
  do {
    wake_at_.store(std::min(wake_at_.load(), ticket));
    done = is_complete(ticket);
  } while (!done && completed_changed_.wait_until(lock, end) != std::cv_status::timeout);
  if (--sleepers_ == 0) wake_at_.store(UINT64_MAX);
  return done || is_complete(ticket);
}

// --- Lifetimes ---

void CpuStream::retire(Resource* resource) {
  {
    const std::lock_guard lock(retiring_);
    retired_.push_back(resource);
    retired_count_.store(retired_.size(), std::memory_order_relaxed);
  }
  collect(Deleter::kHost);
}

void CpuStream::collect(Deleter deleter) {
  std::vector<Resource*> ready;
  {
    const std::lock_guard lock(retiring_);
    const auto stays = [&](Resource* resource) {
      return !is_complete(resource->last_ticket()) ||
             (deleter == Deleter::kDispatcher && !resource->deletes_anywhere());
    };
    const auto first = std::stable_partition(retired_.begin(), retired_.end(), stays);
    ready.assign(first, retired_.end());
    retired_.erase(first, retired_.end());
    retired_count_.store(retired_.size(), std::memory_order_relaxed);
  }
  // Outside the lock: a destructor may take the interpreter lock, or retire something else.
  for (Resource* resource : ready) delete resource;
}

// --- Fork ---

void CpuStream::before_fork() {
  producer_.lock();
  consumer_.lock();
  run_pending(newest());
  waiting_.lock();
  retiring_.lock();
  executor_.log().mutex().lock();
}

void CpuStream::after_fork_in_parent() {
  executor_.log().mutex().unlock();
  retiring_.unlock();
  waiting_.unlock();
  consumer_.unlock();
  producer_.unlock();
}

void CpuStream::after_fork_in_child() {
  executor_.pool().forget_workers();
  // The dispatcher and whoever waited are not of this process.
  if (dispatcher_.joinable()) cpu::abandon(std::move(dispatcher_));
  std::construct_at(&completed_changed_);
  sleepers_ = 0;
  wake_at_.store(UINT64_MAX);
  runners_.store(0);
  parked_.store(0);
  dispatcher_is_awake_.store(false);
  after_fork_in_parent();
}

}  // namespace enceladus::cpu
