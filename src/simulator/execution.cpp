#include "simulator/execution.h"

#include <xmmintrin.h>

#include <algorithm>
#include <bit>

#include "simulator/kernel_log.h"
#include "simulator/metal_headers/enceladus/operations.h"

namespace enceladus::simulator {
namespace {

// The launch that runs on this OS thread. A plain pointer reached without a call: the callbacks
// read it millions of times a second.
thread_local Execution* current_execution __attribute__((tls_model("initial-exec"))) = nullptr;

// Flush-to-zero and denormals-are-zero, as GPUs treat float32.
class FlushDenormals {
 public:
  FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
  ~FlushDenormals() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
};

uint32_t thread_count(const LaunchRequest& request) {
  return request.threads[0] * request.threads[1] * request.threads[2];
}

}  // namespace

Execution::Execution(const KernelImage& image, const KernelSignature& signature,
                     const LaunchRequest& request, MemoryMap& memory, std::vector<uint64_t> slots)
    : image_(image),
      request_(request),
      memory_(memory),
      slots_(std::move(slots)),
      reports_(request.maximal_reports),
      random_(request.seed),
      threads_(thread_count(request)),
      stacks_(threads_.size()),
      groups_((threads_.size() + kLanes - 1) / kLanes) {}

Execution& Execution::current() { return *current_execution; }

void Execution::run() {
  Execution* outer = current_execution;
  current_execution = this;
  uint32_t count = request_.grid[0] * request_.grid[1] * request_.grid[2];
  std::vector<uint32_t> order(count);
  for (uint32_t i = 0; i < count; ++i) order[i] = i;
  if (request_.schedule == Schedule::kReversed) std::reverse(order.begin(), order.end());
  if (request_.schedule == Schedule::kRandom) std::shuffle(order.begin(), order.end(), random_);
  {
    FlushDenormals flush;
    StackGuard guard(stack_owner());
    for (uint32_t linear : order) {
      linear_program_ = linear;
      run_threadgroup(program_at(linear));
      if (stopped_) break;
    }
  }
  current_execution = outer;
}

StackGuard::Owner Execution::stack_owner() {
  return {.self = this,
          .is_guard =
              [](void* self, uintptr_t address) {
                return static_cast<Execution*>(self)->stacks_.is_guard(address);
              },
          .overflow = [](void* self,
                         uintptr_t code) { static_cast<Execution*>(self)->stop_overflow(code); },
          .is_code =
              [](void* self, uintptr_t address) {
                return static_cast<Execution*>(self)->image_.holds(address);
              }};
}

std::array<uint32_t, 3> Execution::program_at(uint32_t linear) const {
  uint32_t x = request_.grid[0], y = request_.grid[1];
  return {linear % x, linear / x % y, linear / x / y};
}

void Execution::run_threadgroup(const std::array<uint32_t, 3>& program) {
  program_ = program;
  first_epoch_ = ++threadgroup_epoch_;
  ++device_epoch_;
  steps_left_ = request_.watchdog_steps;
  memory_.poison_threadgroup_memory();
  set_up_groups();
  for (Thread& thread : threads_) set_up_thread(thread, program);
  shuffle_orders();
  current_group_ = 0;
  running_ = pick();
  enceladus_switch_fiber(&main_context_, running_->stack_pointer);
}

void Execution::set_up_groups() {
  group_order_.resize(groups_.size());
  for (uint32_t i = 0; i < groups_.size(); ++i) {
    SimdGroup& group = groups_[i];
    group.first = i * kLanes;
    group.count = std::min<uint32_t>(kLanes, static_cast<uint32_t>(threads_.size()) - group.first);
    group.ready = static_cast<uint32_t>((uint64_t{1} << group.count) - 1);
    group_order_[i] = i;
    for (uint32_t lane = 0; lane < group.count; ++lane) {
      group.order[lane] = static_cast<uint8_t>(lane);
    }
  }
}

void Execution::set_up_thread(Thread& thread, const std::array<uint32_t, 3>& program) {
  thread.index = static_cast<uint32_t>(&thread - threads_.data());
  thread.state = ThreadState::kReady;
  thread.stack_low = stacks_.low(thread.index);
  thread.stack_pointer = stacks_.prepare(thread.index, &Execution::fiber_main);
  const auto& size = request_.threads;
  std::array<uint32_t, 3> position = {thread.index % size[0], thread.index / size[0] % size[1],
                                      thread.index / size[0] / size[1]};
  auto set = [&](Builtin builtin, std::array<uint32_t, 3> words) {
    std::copy(words.begin(), words.end(), &thread.builtins[3 * static_cast<size_t>(builtin)]);
  };
  std::array<uint32_t, 3> in_grid, all;
  for (int axis = 0; axis < 3; ++axis) {
    in_grid[axis] = program[axis] * size[axis] + position[axis];
    all[axis] = request_.grid[axis] * size[axis];
  }
  set(Builtin::kThreadPositionInGrid, in_grid);
  set(Builtin::kThreadPositionInThreadgroup, position);
  set(Builtin::kThreadgroupPositionInGrid, program);
  set(Builtin::kThreadIndexInThreadgroup, {thread.index, 0, 0});
  set(Builtin::kThreadIndexInSimdgroup, {thread.index % kLanes, 0, 0});
  set(Builtin::kSimdgroupIndexInThreadgroup, {thread.index / kLanes, 0, 0});
  set(Builtin::kThreadsPerGrid, all);
  set(Builtin::kThreadsPerThreadgroup, size);
  set(Builtin::kThreadgroupsPerGrid, request_.grid);
  set(Builtin::kThreadsPerSimdgroup, {kLanes, 1, 1});
  set(Builtin::kSimdgroupsPerThreadgroup, {static_cast<uint32_t>(groups_.size()), 1, 1});
}

// Called when every thread that is not done is ready.
void Execution::shuffle_orders() {
  auto arrange = [&](auto begin, auto end) {
    if (request_.schedule == Schedule::kReversed) std::sort(begin, end, std::greater<>());
    if (request_.schedule == Schedule::kRandom) std::shuffle(begin, end, random_);
  };
  arrange(group_order_.begin(), group_order_.end());
  for (SimdGroup& group : groups_) {
    arrange(group.order.begin(), group.order.begin() + group.count);
    group.ready = 0;
    for (uint32_t i = 0; i < group.count; ++i) {
      group.position[group.order[i]] = static_cast<uint8_t>(i);
      if (threads_[group.first + group.order[i]].state == ThreadState::kReady) {
        group.ready |= 1u << i;
      }
    }
  }
}

void Execution::fiber_main() {
  Execution& self = current();
  self.image_.entry()(self.slots_.data(), self.running_->builtins.data());
  self.running_->state = ThreadState::kDone;
  self.steps_left_ = self.request_.watchdog_steps;
  self.leave();
  __builtin_unreachable();
}

// The running thread cannot go on (or is done): another one runs. Returns when it can.
void Execution::leave() {
  Thread* from = running_;
  Thread* to = pick();
  if (to == from) return;
  running_ = to;
  enceladus_switch_fiber(&from->stack_pointer, to == nullptr ? main_context_ : to->stack_pointer);
}

// The thread to run next, taken out of the ready ones; null when all are done.
Thread* Execution::pick() {
  while (true) {
    SimdGroup& group = groups_[group_order_[current_group_]];
    if (Thread* thread = ready_thread(group)) return thread;
    if (complete_simd_operation(group) || next_group()) continue;
    if (!complete_barrier()) return nullptr;
  }
}

Thread* Execution::ready_thread(SimdGroup& group) {
  if (group.ready == 0) return nullptr;
  int position = std::countr_zero(group.ready);
  group.ready &= group.ready - 1;
  return &threads_[group.first + group.order[position]];
}

// Whether there is a group with a ready thread; it becomes the current one.
bool Execution::next_group() {
  for (size_t i = 0; i < group_order_.size(); ++i) {
    if (groups_[group_order_[i]].ready == 0) continue;
    current_group_ = i;
    return true;
  }
  return false;
}

void Execution::make_ready(Thread& thread) {
  SimdGroup& group = group_of(thread);
  thread.state = ThreadState::kReady;
  group.ready |= 1u << group.position[thread.index % kLanes];
}

uint64_t Execution::simd_operation(const Arrival& arrival) {
  Thread& self = *running_;
  self.arrival = arrival;
  self.state = ThreadState::kAtSimdOperation;
  leave();
  return self.result;
}

void Execution::log(const char* format, std::span<const uint64_t> values) {
  if (request_.log != nullptr) request_.log->push_back(format_log(format, values));
}

uint32_t Execution::owned_place(uint32_t threads, uint32_t owned, uint32_t slot) const {
  uint32_t thread = running_->index % threads;
  // Interleaved, or one stretch for each thread in reverse order.
  if (request_.fragment_layout == FragmentLayout::kApple) return slot * threads + thread;
  return (threads - 1 - thread) * owned + slot;
}

void Execution::barrier(uint32_t memory, uint64_t place) {
  Thread& self = *running_;
  self.arrival = {};
  self.arrival.parameter = memory;
  self.arrival.place = place;
  self.state = ThreadState::kAtBarrier;
  leave();
}

// Lanes that wait at different operations are divergent: the one that comes first in the text is
// completed first, so that lanes which skipped it wait where the paths meet again.
bool Execution::complete_simd_operation(SimdGroup& group) {
  Thread* leader = nullptr;
  for (uint32_t i = 0; i < group.count; ++i) {
    Thread& thread = threads_[group.first + i];
    if (thread.state != ThreadState::kAtSimdOperation) continue;
    if (leader == nullptr || thread.arrival.place < leader->arrival.place) leader = &thread;
  }
  if (leader == nullptr) return false;

  SimdOperands operands;
  operands.operation = leader->arrival.operation;
  operands.type = leader->arrival.type;
  for (uint32_t lane = 0; lane < group.count; ++lane) {
    const Thread& thread = threads_[group.first + lane];
    if (thread.state != ThreadState::kAtSimdOperation) continue;
    if (!thread.arrival.same_operation(leader->arrival)) continue;
    operands.active |= 1u << lane;
    operands.values[lane] = thread.arrival.value;
    operands.seconds[lane] = thread.arrival.second;
    operands.thirds[lane] = thread.arrival.third;
    operands.parameters[lane] = thread.arrival.parameter;
  }
  check_participants(group, *leader, operands.active);
  if (operands.operation == ENCELADUS_SIMD_SCOPE) check_scope(*leader);
  if (operands.operation == ENCELADUS_SIMD_BARRIER) {
    if ((leader->arrival.parameter & kDeviceMemory) != 0) ++group.device_epoch;
    if ((leader->arrival.parameter & kThreadgroupMemory) != 0) ++group.threadgroup_epoch;
  }
  SimdResults results = compute(operands, request_.fragment_layout);
  for (uint32_t lane = 0; lane < group.count; ++lane) {
    if ((operands.active >> lane & 1) == 0) continue;
    Thread& thread = threads_[group.first + lane];
    thread.result = results.values[lane];
    if ((results.invalid >> lane & 1) != 0) report_inactive(thread);
    make_ready(thread);
  }
  return true;
}

// All live threads are at a barrier, or all are done.
bool Execution::complete_barrier() {
  const Thread* leader = nullptr;
  uint32_t memory = 0;
  for (const Thread& thread : threads_) {
    if (thread.state != ThreadState::kAtBarrier) continue;
    memory |= thread.arrival.parameter;
    if (leader == nullptr || thread.arrival.place < leader->arrival.place) leader = &thread;
  }
  if (leader == nullptr) return false;
  check_barrier(*leader);
  if ((memory & kDeviceMemory) != 0) ++device_epoch_;
  if ((memory & kThreadgroupMemory) != 0) ++threadgroup_epoch_;
  for (Thread& thread : threads_) {
    if (thread.state == ThreadState::kAtBarrier) thread.state = ThreadState::kReady;
  }
  shuffle_orders();
  current_group_ = 0;
  steps_left_ = request_.watchdog_steps;
  return true;
}

void Execution::stop() {
  stopped_ = true;
  void* abandoned;
  enceladus_switch_fiber(&abandoned, main_context_);
  __builtin_unreachable();
}

}  // namespace enceladus::simulator
