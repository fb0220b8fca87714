#include "transforms/barriers.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/effects.h"
#include "ir/builder.h"
#include "transforms/dce.h"

namespace enceladus::transforms {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;

constexpr int64_t kDistinctOverTurns = 2, kOneThread = 3;  // `exclusive`

bool is_shared(const Operation& op) {
  return op.is(Opcode::kSharedLoad) || op.is(Opcode::kSharedStore) || op.is(Opcode::kMatrixLoad) ||
         op.is(Opcode::kCopyAsync) || op.is(Opcode::kSharedAtomic);
}

bool is_device(const Operation& op) {
  return !is_shared(op) && (analysis::reads_memory(op) || analysis::writes_memory(op));
}

bool overlap_in_shared(const Operation& a, const Operation& b) {
  const Operation& x = *a.operand(0)->definition();
  const Operation& y = *b.operand(0)->definition();
  // A ring's accesses are ordered by its waits.
  if (&x == &y && x.integer_or(AttributeName::kStaged, 0)) return false;
  int64_t x_first = x.integer(AttributeName::kOffset), y_first = y.integer(AttributeName::kOffset);
  return x_first < y_first + y.integer(AttributeName::kBytes) &&
         y_first < x_first + x.integer(AttributeName::kBytes);
}

// Atomics whose order nothing shows: of one kind, whose old values nobody uses.
bool commute(const Operation& a, const Operation& b) {
  if (a.opcode() != b.opcode()) return false;
  if (!a.is(Opcode::kAtomicRmw) && !a.is(Opcode::kSharedAtomic)) return false;
  auto is_used = [](const Operation& op) {
    return op.result_count() > 0 && op.result()->has_users();
  };
  auto kind = a.enumerator<ir::AtomicKind>(AttributeName::kAtomic);
  return kind == b.enumerator<ir::AtomicKind>(AttributeName::kAtomic) &&
         kind != ir::AtomicKind::kExchange && !is_used(a) && !is_used(b) &&
         a.operand(a.is(Opcode::kAtomicRmw) ? 1 : 2)->type().dtype() ==
             b.operand(b.is(Opcode::kAtomicRmw) ? 1 : 2)->type().dtype();
}

// An access since the last barrier; `crossed` is the outermost loop of which a later turn has begun
// since, or null. Where `open_if` is false a barrier has come since, too; null: none has.
struct Access {
  const Operation* op;
  const Operation* crossed = nullptr;
  const ir::Value* open_if = nullptr;
  bool operator==(const Access&) const = default;
};
using Open = std::vector<Access>;

void add(Open& open, const Access& access) {
  if (std::ranges::find(open, access) == open.end()) open.push_back(access);
}

void merge(Open& open, const Open& other) {
  for (const Access& access : other) add(open, access);
}

// Whether the operation is the loop or stands in it.
bool is_inside(const Operation* op, const Operation* loop) {
  while (op && op != loop) op = op->parent_operation();
  return op != nullptr;
}

const Operation* loop_around(const Operation& op) {
  const Operation* around = op.parent_operation();
  while (around && !around->is(Opcode::kFor) && !around->is(Opcode::kWhile))
    around = around->parent_operation();
  return around;
}

constexpr int kApart = 4;  // an operand of loads and stores

const ir::Value* apart_of(const Operation& op) {
  return op.is(Opcode::kLoad) || op.is(Opcode::kStore) ? op.operand(kApart) : nullptr;
}

// Whether an element that both touch is touched by one thread (`exclusive` in simt_ops.def), where
// the elements of each lie apart.
bool same_thread(const Access& earlier, const Operation& op) {
  int64_t a = earlier.op->integer_or(AttributeName::kExclusive, 0);
  int64_t b = op.integer_or(AttributeName::kExclusive, 0);
  if (a == kOneThread || b == kOneThread) return a == b;
  if (apart_of(*earlier.op) != apart_of(op)) return false;
  if (a == 0 || b == 0 || earlier.op->operand(0) != op.operand(0)) return false;
  if (!earlier.crossed) return true;
  // Then each turn has its own answer.
  if (apart_of(op) && is_inside(apart_of(op)->definition(), earlier.crossed)) return false;
  const Operation* pointer = op.operand(0)->definition();
  if (!pointer || !is_inside(pointer, earlier.crossed)) return true;
  return a == kDistinctOverTurns && b == kDistinctOverTurns && loop_around(op) == earlier.crossed &&
         loop_around(*earlier.op) == earlier.crossed;
}

// Which kinds of memory a barrier makes known, and what it is needed `unless`: null for always.
struct Kinds {
  bool shared = false, device = false;
  const ir::Value* unless = nullptr;
  bool any() const { return shared || device; }
  void add(const Kinds& other) {
    if (!other.any()) return;
    unless = !any() || unless == other.unless ? other.unless : nullptr;
    shared |= other.shared;
    device |= other.device;
  }
  void add(const Operation& access, const ir::Value* exception) {
    add({is_shared(access), !is_shared(access), exception});
  }
  bool covers(const Operation& access) const { return is_shared(access) ? shared : device; }
  std::string text() const { return shared && device ? "both" : shared ? "shared" : "device"; }
};

// Decides where barriers stand: before which operations, with which kinds of memory.
class Placer {
 public:
  explicit Placer(const ir::Function& function) : effects_(function) { region(function.body()); }
  const std::map<const Operation*, Kinds>& places() const { return places_; }

 private:
  void region(const ir::Region& region) {
    for (const Operation* op : region) operation(*op);
  }

  void operation(const Operation& op) {
    if (auto decided = places_.find(&op); decided != places_.end()) end(decided->second);
    if (op.is(Opcode::kFor) || op.is(Opcode::kWhile)) return loop(op);
    if (op.is(Opcode::kIf)) return branch(op);
    if (!is_shared(op) && !is_device(op)) return;
    place(op, conflicts_of(op));
    add(open_, {&op});
  }

  void place(const Operation& op, const Kinds& kinds) {
    if (!kinds.any()) return;
    places_[&op].add(kinds);
    end(kinds);
  }

  // One before the loop serves where it saves one that every turn would wait at.
  void loop(const Operation& op) {
    Placer before = *this;
    turns(op);
    Kinds kinds = before.conflicts_within(op);
    if (kinds.unless && is_inside(kinds.unless->definition(), &op)) kinds.unless = nullptr;
    if (!kinds.any() || places_within(op) == 0) return;
    before.place(op, kinds);
    before.turns(op);
    if (before.places_within(op) < places_within(op)) *this = std::move(before);
  }

  // A body may run any number of times, also none; its second turn comes behind what its first one
  // left open.
  void turns(const Operation& op) {
    Open before = open_;
    for (int turn = 0; turn < 2; ++turn) {
      for (const ir::Region* nested : op.regions()) region(*nested);
      if (turn == 0) {
        for (Access& access : open_)
          if (is_inside(access.op, &op)) access.crossed = &op;
        merge(open_, before);
      }
    }
    if (op.is(Opcode::kWhile)) region(*op.region(0));
    merge(open_, before);
  }

  void branch(const Operation& op) {
    Open before = open_;
    region(*op.region(0));
    Open otherwise = std::move(open_);
    open_ = std::move(before);
    region(*op.region(1));
    merge(open_, otherwise);
  }

  void end(const Kinds& kinds) {
    if (!kinds.unless)
      return void(
          std::erase_if(open_, [&](const Access& access) { return kinds.covers(*access.op); }));
    for (Access& access : open_)
      if (kinds.covers(*access.op) && !access.open_if) access.open_if = kinds.unless;
  }

  int places_within(const Operation& loop) const {
    return static_cast<int>(std::ranges::count_if(places_, [&](const auto& place) {
      return place.first != &loop && is_inside(place.first, &loop);
    }));
  }

  // What of the open accesses conflicts with the operation, or with those of its regions.
  Kinds conflicts_of(const Operation& op) const {
    Kinds kinds;
    for (const Access& earlier : open_) {
      if (!conflicts(*earlier.op, op)) continue;
      bool same = same_thread(earlier, op);
      const ir::Value* apart = same ? apart_of(op) : nullptr;
      if (same && (!apart || apart == earlier.open_if)) continue;
      kinds.add(*earlier.op, apart);
    }
    return kinds;
  }

  Kinds conflicts_within(const Operation& op) const {
    Kinds kinds;
    if (is_shared(op) || is_device(op)) kinds = conflicts_of(op);
    for (const ir::Region* nested : op.regions())
      for (const Operation* inner : *nested) kinds.add(conflicts_within(*inner));
    return kinds;
  }

  bool conflicts(const Operation& earlier, const Operation& op) const {
    if (!analysis::writes_memory(earlier) && !analysis::writes_memory(op)) return false;
    if (commute(earlier, op)) return false;
    if (op.is(Opcode::kCopyAsync) && is_device(earlier)) return reads_written(op, earlier);
    if (is_shared(earlier) != is_shared(op)) return false;
    if (is_shared(op)) return overlap_in_shared(earlier, op);
    return effects_.may_alias(earlier, op);
  }

  // Whether the copy's source is what the device access wrote.
  bool reads_written(const Operation& copy, const Operation& access) const {
    return analysis::writes_memory(access) && effects_.may_alias(copy.operand(2), access);
  }

  analysis::MemoryEffects effects_;
  std::map<const Operation*, Kinds> places_;
  Open open_;
};

}  // namespace

bool insert_barriers(ir::Function& function) {
  Placer placer(function);
  ir::Builder builder(function);
  // An operation before which a barrier stands is met once, at its own place.
  ir::walk(function.body(), [&](Operation* op) {
    if (apart_of(*op)) op->set_operand(kApart, nullptr);  // nobody asks again
    auto place = placer.places().find(op);
    if (place == placer.places().end()) return;
    builder.set_insertion_before(op);
    builder.set_location_of(op);
    auto* unless = const_cast<ir::Value*>(place->second.unless);
    builder.create(Opcode::kBarrier, {unless}, {{AttributeName::kMemory, place->second.text()}});
  });
  remove_dead_code(function);
  return !placer.places().empty();
}

}  // namespace enceladus::transforms
