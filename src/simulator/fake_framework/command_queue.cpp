#include "simulator/fake_framework/command_queue.h"

#include <pthread.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include "simulator/fake_framework/command_buffer.h"
#include "simulator/fake_framework/ledger.h"
#include "simulator/fake_framework/property.h"
#include "simulator/fake_framework/runtime.h"
#include "simulator/fake_framework/time_inside.h"

namespace enceladus::fake_metal {
namespace {

// Lets the process end only while no kernel runs: the statics that one uses are destroyed then.
class Running {
 public:
  static Running& get() {
    static Running& running = *[] {
      auto* made = new Running;
      std::atexit([] { get().forbid(); });
      return made;
    }();
    return running;
  }
  bool begin() {
    std::lock_guard lock(mutex_);
    if (!forbidden_) ++count_;
    return !forbidden_;
  }
  void end() {
    std::lock_guard lock(mutex_);
    --count_;
    changed_.notify_all();
  }

 private:
  void forbid() {
    std::unique_lock lock(mutex_);
    forbidden_ = true;
    changed_.wait(lock, [&] { return count_ == 0; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
  bool forbidden_ = false;
};

}  // namespace

struct CommandQueue::Worker {
  struct Turn {
    CommandBuffer* buffer;  // for comparison; it may be gone unless `committed` holds it
    Ref<CommandBuffer> committed;
  };

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Turn> turns;
  uint64_t free_slots;
  uint64_t unfinished = 0;  // committed and not completed
  bool started = false;
  bool ended = false;
};

const Class& CommandQueueDescriptor::type() {
  using Self = CommandQueueDescriptor;
  static constexpr Method kMethods[] = {
      getter<&Self::command_buffers>("maxCommandBufferCount"),
      setter<&Self::command_buffers>("setMaxCommandBufferCount:"),
      getter<&Self::log_state>("logState"),
      setter<&Self::log_state>("setLogState:"),
  };
  static const Class& type =
      *new Class({.name = "MTLCommandQueueDescriptor", .methods = kMethods, .allocate = [] {
                    return make<CommandQueueDescriptor>();
                  }});
  return type;
}

const Class& CommandQueue::type() {
  static constexpr Method kMethods[] = {
      method<&CommandQueue::command_buffer>("commandBuffer", Failure::kNil),
      method<&CommandQueue::unretained_command_buffer>("commandBufferWithUnretainedReferences",
                                                       Failure::kNil),
      method<&CommandQueue::command_buffer_with_descriptor>("commandBufferWithDescriptor:",
                                                            Failure::kNil),
      getter<&CommandQueue::label>("label"),
      setter<&CommandQueue::label>("setLabel:"),
  };
  static const Class& type =
      *new Class({.name = "MTLCommandQueue", .methods = kMethods, .is_protocol = true});
  return type;
}

CommandQueue::CommandQueue(uint64_t command_buffers, Ref<LogState> log_state)
    : log_state_(std::move(log_state)), worker_(std::make_shared<Worker>()) {
  worker_->free_slots = command_buffers;
}

CommandQueue::~CommandQueue() {
  std::lock_guard lock(worker_->mutex);
  worker_->ended = true;
  worker_->changed.notify_all();
}

void CommandQueue::take_slot() {
  std::unique_lock lock(worker_->mutex);
  if (worker_->free_slots == 0 && worker_->unfinished == 0) {
    throw ContractViolation(
        "all command buffers of the queue are open and none is committed: this would wait for "
        "ever");
  }
  worker_->changed.wait(lock, [&] { return worker_->free_slots > 0; });
  --worker_->free_slots;
}

void CommandQueue::give_back_slot() {
  std::lock_guard lock(worker_->mutex);
  ++worker_->free_slots;
  worker_->changed.notify_all();
}

void CommandQueue::enqueue(CommandBuffer& buffer) {
  std::lock_guard lock(worker_->mutex);
  worker_->turns.push_back({&buffer, {}});
}

void CommandQueue::commit(CommandBuffer& buffer) {
  std::lock_guard lock(worker_->mutex);
  for (Worker::Turn& turn : worker_->turns) {
    if (turn.buffer == &buffer) turn.committed = Ref<CommandBuffer>(&buffer);
  }
  ++worker_->unfinished;
  if (!worker_->started) {
    worker_->started = true;
    std::thread(&CommandQueue::run, worker_).detach();
  }
  worker_->changed.notify_all();
}

void CommandQueue::run(std::shared_ptr<Worker> worker) {
  TimeInside::leave_out_this_thread();
  pthread_setname_np(pthread_self(), "metal-sim queue");
  while (true) {
    Ref<CommandBuffer> next;
    {
      std::unique_lock lock(worker->mutex);
      worker->changed.wait(lock, [&] {
        return worker->ended || (!worker->turns.empty() && worker->turns.front().committed);
      });
      if (worker->turns.empty() || !worker->turns.front().committed) return;
      next = std::move(worker->turns.front().committed);
      worker->turns.pop_front();
    }
    if (!Running::get().begin()) return;
    void* pool = objc_autoreleasePoolPush();
    next->run();
    {
      std::lock_guard lock(worker->mutex);
      --worker->unfinished;
      ++worker->free_slots;
      worker->changed.notify_all();
    }
    next = {};
    objc_autoreleasePoolPop(pool);
    Running::get().end();
  }
}

Result CommandQueue::give_command_buffer(bool retains, uint64_t error_options,
                                         Ref<LogState> log_state) {
  take_slot();
  return give(autorelease(make<CommandBuffer>(Ref<CommandQueue>(this), retains, error_options,
                                              log_state ? log_state : log_state_)));
}

Result CommandQueue::command_buffer(const Message&) { return give_command_buffer(true, 0, {}); }
Result CommandQueue::unretained_command_buffer(const Message&) {
  return give_command_buffer(false, 0, {});
}
Result CommandQueue::command_buffer_with_descriptor(const Message& message) {
  auto& descriptor = argument<CommandBufferDescriptor>(message, 0);
  return give_command_buffer(descriptor.retained_references, descriptor.error_options,
                             descriptor.log_state);
}

}  // namespace enceladus::fake_metal
