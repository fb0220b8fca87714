#include "transforms/late_waits.h"

#include <algorithm>
#include <set>
#include <vector>

namespace enceladus::transforms {
namespace {

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
  }
  return changed;
}

}  // namespace enceladus::transforms
