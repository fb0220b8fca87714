// The checks of a running launch: what accesses, SIMD operations and barriers may not do.
#include <bit>
#include <limits>

#include "simulator/execution.h"
#include "simulator/metal_headers/enceladus/operations.h"

namespace enceladus::simulator {
namespace {

std::string plural(size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

std::string access_text(bool write, size_t size) {
  return (write ? "a store of " : "a load of ") + plural(size, "byte");
}

std::string line_text(uint64_t place) { return "line " + std::to_string(place >> 32); }

// Where a thread is that does not take part in something.
std::string whereabouts(const Thread& thread) {
  switch (thread.state) {
    case ThreadState::kReady:
      return "has not arrived";
    case ThreadState::kAtSimdOperation:
      return std::string("is at ") + simd_operation_name(thread.arrival.operation) + " in " +
             line_text(thread.arrival.place);
    case ThreadState::kAtBarrier:
      return "is at the barrier in " + line_text(thread.arrival.place);
    case ThreadState::kDone:
      return "has ended";
  }
  return "";
}

}  // namespace

Finding Execution::finding(ReportKind kind, uintptr_t code) const {
  Finding found;
  found.kind = kind;
  found.place.code = static_cast<uint32_t>(code - image_.base());
  found.program = program_;
  found.thread = running_->index;
  return found;
}

Finding Execution::finding(ReportKind kind, const Thread& thread) const {
  Finding found;
  found.kind = kind;
  found.place.place = thread.arrival.place;
  found.program = program_;
  found.thread = thread.index;
  return found;
}

void Execution::check_alignment(uintptr_t address, size_t size, size_t alignment, bool write,
                                uintptr_t code) {
  if (address % alignment == 0) return;
  Finding found = finding(ReportKind::kMisaligned, code);
  if (reports_.is_new(found)) {
    found.message = access_text(write, size) + " at an address that is no multiple of " +
                    std::to_string(alignment);
    reports_.add(std::move(found));
  }
  // The vector instruction that follows would fault; narrower ones do not mind.
  constexpr size_t kVectorBytes = 16;
  if (alignment >= kVectorBytes) stop();
}

void Execution::access(uintptr_t address, size_t size, size_t alignment, bool write,
                       uintptr_t code) {
  if (address - running_->stack_low < FiberStacks::kStackBytes) return;
  check_alignment(address, size, alignment, write, code);
  if (Region* region = memory_.find(address, size)) {
    check_region(*region, address, size, write, false, code);
  } else {
    report_outside(address, size, write, code);
  }
}

uint64_t Execution::atomic(uintptr_t address, const AtomicOperands& operands, uintptr_t code) {
  size_t size = atomic_bytes(operands.type);
  bool write = atomic_writes(operands.operation);
  check_alignment(address, size, size, write, code);
  if (Region* region = memory_.find(address, size)) {
    check_region(*region, address, size, write, true, code);
  } else {
    report_outside(address, size, write, code);
  }
  AtomicOperands with_failures = operands;
  // A weak exchange may fail: in random schedules one of eight does, so that a kernel that does
  // not try again gives wrong results here.
  with_failures.fail = request_.schedule == Schedule::kRandom && random_() % 8 == 0;
  AtomicResult result = perform_atomic(reinterpret_cast<void*>(address), with_failures);
  running_->exchanged = result.exchanged;
  return result.old;
}

void Execution::check_region(Region& region, uintptr_t address, size_t size, bool write,
                             bool atomic, uintptr_t code) {
  if (write && region.read_only) {
    Finding found = finding(ReportKind::kReadOnlyWrite, code);
    if (reports_.is_new(found)) {
      found.message = access_text(true, size) + " to " + region.name + ", which is read only";
      reports_.add(std::move(found));
    }
  }
  if (region.cells == nullptr) return;
  bool shared = region.kind == RegionKind::kThreadgroup;
  const SimdGroup& group = groups_[running_->index / kLanes];
  CellAccess access{.threadgroup = shared ? 0 : linear_program_,
                    .thread = running_->index,
                    .epoch = shared ? threadgroup_epoch_ : device_epoch_,
                    .simd_epoch = shared ? group.threadgroup_epoch : group.device_epoch,
                    .code = static_cast<uint32_t>(code - image_.base()),
                    .write = write,
                    .atomic = atomic,
                    .first_epoch = shared ? first_epoch_ : 0};
  size_t offset = address - (region.low & ~uintptr_t{3});
  Conflict conflict = region.cells->access(offset, size, access);
  if (conflict.uninitialized) report_uninitialized(region, address - region.low, size, code);
  if (conflict.found) report_conflict(region, conflict, address - region.low, size, write, code);
}

void Execution::report_uninitialized(const Region& region, size_t offset, size_t size,
                                     uintptr_t code) {
  Finding found = finding(ReportKind::kUninitialized, code);
  if (!reports_.is_new(found)) return;
  found.message = access_text(false, size) + " at byte " + std::to_string(offset) + " of " +
                  region.name + ", which no thread of the threadgroup has written";
  reports_.add(std::move(found));
}

void Execution::report_conflict(const Region& region, const Conflict& conflict, size_t offset,
                                size_t size, bool write, uintptr_t code) {
  Finding found = finding(ReportKind::kRace, code);
  found.has_other = true;
  found.other_place.code = conflict.code;
  if (!reports_.is_new(found)) return;
  bool shared = region.kind == RegionKind::kThreadgroup;
  found.other_thread = conflict.thread;
  found.other_program = shared ? program_ : program_at(conflict.threadgroup);
  found.message = access_text(write, size) + " at byte " + std::to_string(offset) + " of " +
                  region.name + " and an earlier " + (conflict.with_write ? "store" : "load") +
                  " by another thread, with no barrier for that memory between them";
  reports_.add(std::move(found));
}

void Execution::report_outside(uintptr_t address, size_t size, bool write, uintptr_t code) {
  if (!write && image_.holds(address) && !near_threadgroup_array(address)) return;  // a constant
  bool stack = stacks_.holds(address);
  Finding found = finding(stack ? ReportKind::kForeignStack : ReportKind::kOutOfBounds, code);
  if (reports_.is_new(found)) {
    const Region* region = memory_.nearest(address);
    found.message = access_text(write, size);
    if (stack) {
      found.message += " to memory that is private to another thread";
    } else if (region == nullptr) {
      found.message += " and the kernel has no memory";
    } else if (address < region->low) {
      found.message += ", " + plural(region->low - address, "byte") + " before " + region->name;
    } else {
      size_t past = address - region->low;
      found.message += " at byte " + std::to_string(past) + " of " + region->name + ", which has " +
                       plural(region->high - region->low, "byte");
    }
    reports_.add(std::move(found));
  }
  // In a red zone a wrong access harms nobody; anywhere else it must not happen.
  bool harmless = memory_.is_mapped(address) && memory_.is_mapped(address + size - 1);
  if (!harmless && !near_threadgroup_array(address)) stop();
}

// Whether an address lies in the red zone of a threadgroup array of the image.
bool Execution::near_threadgroup_array(uintptr_t address) const {
  constexpr uintptr_t kImageRedZone = 64;
  for (const ThreadgroupArray& array : image_.threadgroup_arrays()) {
    if (address >= array.address - kImageRedZone &&
        address < array.address + array.bytes + kImageRedZone - 16) {
      return true;
    }
  }
  return false;
}

// All lanes of the group should take part; without `strict` those that do are enough, except
// where the operation itself is defined for whole groups only.
void Execution::check_participants(const SimdGroup& group, const Thread& leader, uint32_t mask) {
  uint32_t all = static_cast<uint32_t>((uint64_t{1} << group.count) - 1);
  if (mask == all) return;
  uint32_t operation = leader.arrival.operation;
  bool whole_only = operation == ENCELADUS_SIMD_CONVERGE || operation == ENCELADUS_SIMD_MULTIPLY ||
                    operation == ENCELADUS_SIMD_BARRIER;
  if (!request_.strict && !whole_only) return;
  Finding found = finding(ReportKind::kDivergentSimd, leader);
  if (!reports_.is_new(found)) return;
  const Thread& other = threads_[group.first + std::countr_zero(all & ~mask)];
  found.message = std::string(simd_operation_name(operation)) + " is executed by " +
                  std::to_string(std::popcount(mask)) + " of the " + std::to_string(group.count) +
                  " lanes of SIMD group " + std::to_string(leader.index / kLanes) + "; thread " +
                  std::to_string(other.index) + " " + whereabouts(other);
  reports_.add(std::move(found));
}

// A tensor operation is by one SIMD group or by all of the threadgroup.
void Execution::check_scope(const Thread& leader) {
  uint32_t wanted = leader.arrival.parameter;
  if (wanted == 1 || wanted == groups_.size()) return;
  Finding found = finding(ReportKind::kDivergentSimd, leader);
  if (!reports_.is_new(found)) return;
  found.message = "a tensor operation of " + plural(wanted, "SIMD group") +
                  " in a threadgroup that has " + std::to_string(groups_.size());
  reports_.add(std::move(found));
}

void Execution::report_inactive(const Thread& thread) {
  Finding found = finding(ReportKind::kInactiveLane, thread);
  if (!reports_.is_new(found)) return;
  found.message = std::string(simd_operation_name(thread.arrival.operation)) + " with " +
                  std::to_string(thread.arrival.parameter) + " in lane " +
                  std::to_string(thread.index % kLanes) +
                  " reads a lane that does not exist or does not take part";
  reports_.add(std::move(found));
}

void Execution::check_barrier(const Thread& leader) {
  for (const Thread& other : threads_) {
    bool together =
        other.state == ThreadState::kAtBarrier && other.arrival.place == leader.arrival.place;
    if (together) continue;
    Finding found = finding(ReportKind::kDivergentBarrier, leader);
    if (!reports_.is_new(found)) return;
    found.message = "not all threads of the threadgroup reach this threadgroup_barrier: thread " +
                    std::to_string(other.index) + " " + whereabouts(other);
    reports_.add(std::move(found));
    return;
  }
}

// Called on a stack of its own, since the thread's is full.
void Execution::stop_overflow(uintptr_t code) {
  Finding found = finding(ReportKind::kStackOverflow, code);
  if (code == 0) found.place = {};
  if (reports_.is_new(found)) {
    found.message = "the thread's private variables and calls need more than " +
                    std::to_string(FiberStacks::kStackBytes / 1024) +
                    " KiB; the launch was stopped";
    reports_.add(std::move(found));
  }
  stop();
}

void Execution::stop_endless_loop(uintptr_t code) {
  Finding found = finding(ReportKind::kEndlessLoop, code);
  if (reports_.is_new(found)) {
    found.message = "no thread has reached a barrier or its end within " +
                    std::to_string(request_.watchdog_steps) + " steps; the launch was stopped";
    reports_.add(std::move(found));
  }
  stop();
}

}  // namespace enceladus::simulator
