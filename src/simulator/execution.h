// One launch while it runs: the threads of the current threadgroup as fibers, their meeting at SIMD
// operations and barriers, and the checks of what they do.
//
// Protocol. Exactly one fiber runs at a time, all on one OS thread. A thread runs until it reaches
// a SIMD operation, a barrier or its end; there it notes what it brings and calls `leave`, which
// picks the next thread and switches to it directly, without going through a scheduler fiber:
//   1. another ready thread of the same SIMD group, in the order of the schedule;
//   2. none is ready: the group's pending SIMD operation is completed (results for all who take
//      part; a report if some lanes of the group are elsewhere) and its threads become ready;
//   3. the group waits at a barrier or is done: the next group that has a ready thread;
//   4. no group has: the barrier is completed (a report if some thread ended or is at another
//      one), epochs rise, all become ready;
//   5. all threads are done: back to the main context, which starts the next threadgroup.
// A fault after which the launch cannot go on switches to the main context for good.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "simulator/atomics.h"
#include "simulator/fiber.h"
#include "simulator/kernel_image.h"
#include "simulator/memory_map.h"
#include "simulator/report_collector.h"
#include "simulator/simd_operations.h"
#include "simulator/simulated_kernel.h"
#include "simulator/stack_guard.h"

namespace enceladus::simulator {

// Bits of mem_flags.
inline constexpr uint32_t kDeviceMemory = 1;
inline constexpr uint32_t kThreadgroupMemory = 2;

enum class ThreadState : uint8_t { kReady, kAtSimdOperation, kAtBarrier, kDone };

// What a thread brings to the place where it waits.
struct Arrival {
  uint32_t operation = 0;  // of EnceladusSimdOperation
  uint32_t type = 0;       // of EnceladusType
  uint32_t parameter = 0;
  uint64_t place = 0;  // line in the high half, column in the low
  uint64_t value = 0;
  uint64_t second = 0;
  uint64_t third = 0;
  bool same_operation(const Arrival& other) const {
    return operation == other.operation && type == other.type && place == other.place;
  }
};

struct Thread {
  void* stack_pointer = nullptr;
  uintptr_t stack_low = 0;
  uint32_t index = 0;
  ThreadState state = ThreadState::kReady;
  bool exchanged = false;  // the last compare-and-exchange stored its value
  Arrival arrival;
  uint64_t result = 0;
  std::array<uint32_t, 3 * kBuiltinCount> builtins{};
};

struct SimdGroup {
  uint32_t first = 0;  // thread index
  uint32_t count = 0;  // threads, 32 but in the last group
  uint32_t ready = 0;  // bit p: the lane order[p] can run
  uint32_t threadgroup_epoch = 1;
  uint32_t device_epoch = 1;
  std::array<uint8_t, kLanes> order{};
  std::array<uint8_t, kLanes> position{};  // the inverse of `order`
};

class Execution {
 public:
  Execution(const KernelImage& image, const KernelSignature& signature,
            const LaunchRequest& request, MemoryMap& memory, std::vector<uint64_t> slots);

  void run();
  ReportCollector& reports() { return reports_; }

  // What follows is called on fibers, by the functions that the kernel calls.
  static Execution& current();
  uint64_t simd_operation(const Arrival& arrival);
  void barrier(uint32_t memory, uint64_t place);
  void access(uintptr_t address, size_t size, size_t alignment, bool write, uintptr_t code);
  uint64_t atomic(uintptr_t address, const AtomicOperands& operands, uintptr_t code);
  void log(const char* format, std::span<const uint64_t> values);
  bool exchanged() const { return running_->exchanged; }
  uint32_t lane() const { return running_->index % kLanes; }
  // Which element of a cooperative tensor of `threads` threads with `owned` elements each the
  // running thread holds in a slot.
  uint32_t owned_place(uint32_t threads, uint32_t owned, uint32_t slot) const;
  FragmentLayout fragment_layout() const { return request_.fragment_layout; }
  // A basic block begins.
  void step(uintptr_t code) {
    if (--steps_left_ == 0) [[unlikely]]
      stop_endless_loop(code);
  }

 private:
  static void fiber_main();
  void run_threadgroup(const std::array<uint32_t, 3>& program);
  void set_up_groups();
  void set_up_thread(Thread& thread, const std::array<uint32_t, 3>& program);
  void shuffle_orders();
  void leave();
  Thread* pick();
  Thread* ready_thread(SimdGroup& group);
  bool next_group();
  bool complete_simd_operation(SimdGroup& group);
  void check_participants(const SimdGroup& group, const Thread& leader, uint32_t mask);
  void check_scope(const Thread& leader);
  bool complete_barrier();
  void check_barrier(const Thread& leader);
  void make_ready(Thread& thread);
  [[noreturn]] void stop();
  void stop_endless_loop(uintptr_t code);
  void stop_overflow(uintptr_t code);
  StackGuard::Owner stack_owner();
  void check_alignment(uintptr_t address, size_t size, size_t alignment, bool write,
                       uintptr_t code);
  void check_region(Region& region, uintptr_t address, size_t size, bool write, bool atomic,
                    uintptr_t code);
  void report_conflict(const Region& region, const Conflict& conflict, size_t offset, size_t size,
                       bool write, uintptr_t code);
  void report_uninitialized(const Region& region, size_t offset, size_t size, uintptr_t code);
  void report_inactive(const Thread& thread);
  bool near_threadgroup_array(uintptr_t address) const;
  void report_outside(uintptr_t address, size_t size, bool write, uintptr_t code);
  Finding finding(ReportKind kind, uintptr_t code) const;
  Finding finding(ReportKind kind, const Thread& thread) const;
  SimdGroup& group_of(const Thread& thread) { return groups_[thread.index / kLanes]; }
  std::array<uint32_t, 3> program_at(uint32_t linear) const;

  const KernelImage& image_;
  const LaunchRequest& request_;
  MemoryMap& memory_;
  std::vector<uint64_t> slots_;
  ReportCollector reports_;
  std::mt19937_64 random_;

  std::vector<Thread> threads_;
  FiberStacks stacks_;
  std::vector<SimdGroup> groups_;
  std::vector<uint32_t> group_order_;
  size_t current_group_ = 0;  // position in group_order_
  Thread* running_ = nullptr;
  void* main_context_ = nullptr;
  bool stopped_ = false;
  std::array<uint32_t, 3> program_{};
  uint32_t linear_program_ = 0;
  uint32_t threadgroup_epoch_ = 0;
  uint32_t device_epoch_ = 0;
  uint32_t first_epoch_ = 0;  // of this threadgroup, of threadgroup memory
  uint64_t steps_left_ = 0;
};

}  // namespace enceladus::simulator
