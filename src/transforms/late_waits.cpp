#include "transforms/late_waits.h"

#include <algorithm>
#include <set>
#include <vector>

namespace enceladus::transforms {
namespace {

// Registers of a thread that what is loaded before a loop takes through it.
constexpr int64_t kEarlyWords = 32;

using ir::AttributeName;
using ir::Effect;
using ir::Opcode;
using ir::Operation;
using ir::Value;

// Control flow, and what orders copies and products, stay where they are.
bool may_pass(const Operation& op) {
  if (op.integer_or(AttributeName::kVolatile, 0) != 0) return false;
  Effect effect = op.record().effect;
  return effect == Effect::kPure || op.is(Opcode::kLoad) || op.is(Opcode::kSharedBuffer) ||
         op.is(Opcode::kSharedLoad) || op.is(Opcode::kSharedStore);
}

bool reaches_memory(const Operation& op) { return op.record().effect != Effect::kPure; }

// What of the operations behind the wait goes before it: up to the last access to memory, since
// arithmetic alone gains nothing.
std::vector<Operation*> passing(const Operation& wait) {
  std::set<const Value*> awaited;
  std::vector<Operation*> found;
  size_t useful = 0;
  for (Operation* op = wait.next(); op; op = op->next()) {
    if (op->is(Opcode::kWgmmaResult)) {
      awaited.insert(op->result());
      continue;
    }
    if (op->is(Opcode::kRingFree)) continue;
    bool needs_it = std::ranges::any_of(
        op->operands(), [&](const Value* value) { return awaited.contains(value); });
    if (needs_it || !may_pass(*op)) break;
    found.push_back(op);
    if (reaches_memory(*op)) useful = found.size();
  }
  found.resize(useful);
  return found;
}

// The loop behind which the wait stands, for whose products it is; null where there is none.
Operation* loop_before(const Operation& wait) {
  const Operation* op = wait.next();
  while (op && !op->is(Opcode::kWgmmaResult)) op = op->next();
  Operation* loop = op ? op->operand(0)->definition() : nullptr;
  return loop && loop->is(Opcode::kFor) && loop->parent() == wait.parent() ? loop : nullptr;
}

bool writes(const Operation& loop) {
  bool found = false;
  ir::walk(*loop.region(0), [&](const Operation* op) {
    Effect effect = op->record().effect;
    found |= effect == Effect::kWrite || effect == Effect::kReadWrite;
  });
  return found;
}

// Loads between a loop and the wait behind it that can be made before the loop, with what they
// need.
class EarlyLoads {
 public:
  EarlyLoads(const Operation& loop, const Operation& wait) {
    for (Operation* op = loop.next(); op != &wait; op = op->next()) {
      between_.push_back(op);
      if (!op->is(Opcode::kLoad) || !may_pass(*op)) continue;
      const ir::Type& type = op->result()->type();
      int64_t words = type.elements() * byte_size(type.dtype()) / 4;
      std::set<const Operation*> needed;
      if (words > left_ || !collect(*op, loop, needed)) continue;
      left_ -= words;
      early_.insert(needed.begin(), needed.end());
    }
  }

  // In order.
  std::vector<Operation*> operations() const {
    std::vector<Operation*> found;
    for (Operation* op : between_)
      if (early_.contains(op)) found.push_back(op);
    return found;
  }

 private:
  // Whether all that stands behind the loop of what the operation needs may go before it.
  bool collect(const Operation& op, const Operation& loop,
               std::set<const Operation*>& needed) const {
    needed.insert(&op);
    return std::ranges::all_of(op.operands(), [&](const Value* value) {
      const Operation* made = value ? value->definition() : nullptr;
      if (made == &loop) return false;
      if (!made || std::ranges::find(between_, made) == between_.end()) return true;
      return made->record().effect == Effect::kPure && collect(*made, loop, needed);
    });
  }

  std::vector<Operation*> between_;
  std::set<const Operation*> early_;
  int64_t left_ = kEarlyWords;
};

bool load_early(const Operation& wait) {
  Operation* loop = loop_before(wait);
  if (!loop || writes(*loop)) return false;
  std::vector<Operation*> early = EarlyLoads(*loop, wait).operations();
  for (Operation* op : early) op->move_before(loop);
  return !early.empty();
}

}  // namespace

bool late_waits(ir::Function& function) {
  std::vector<Operation*> waits;
  ir::walk(function.body(), [&](Operation* op) {
    if (op->is(Opcode::kWgmmaWait) && op->integer(AttributeName::kPending) == 0)
      waits.push_back(op);
  });
  bool changed = false;
  for (Operation* wait : waits) {
    for (Operation* op : passing(*wait)) {
      op->move_before(wait);
      changed = true;
    }
    changed |= load_early(*wait);
  }
  return changed;
}

}  // namespace enceladus::transforms
