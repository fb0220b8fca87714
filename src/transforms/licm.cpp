#include "transforms/licm.h"

namespace enceladus::transforms {
namespace {

using ir::Effect;
using ir::Opcode;
using ir::Operation;
using ir::Region;
using ir::Value;

bool is_defined_in(const Value* value, const Region* region) {
  if (!value) return false;
  return value->definition() ? value->definition()->parent() == region
                             : value->argument_of() == region;
}

// An operation directly in the region sees only values of the region itself and of those around it.
bool is_invariant(const Operation& op, const Region* body) {
  if (op.record().effect != Effect::kPure || !op.regions().empty()) return false;
  for (const Value* operand : op.operands())
    if (is_defined_in(operand, body)) return false;
  return true;
}

bool hoist(Region& region) {
  bool changed = false;
  for (Operation* op : region) {
    for (Region* nested : op->regions()) changed |= hoist(*nested);
    if (!op->is(Opcode::kFor) && !op->is(Opcode::kWhile)) continue;
    for (Region* body : op->regions()) {
      for (Operation* inner : *body) {
        if (!is_invariant(*inner, body)) continue;
        inner->move_before(op);
        changed = true;
      }
    }
  }
  return changed;
}

}  // namespace

bool hoist_loop_invariants(ir::Function& function) { return hoist(function.body()); }

}  // namespace enceladus::transforms
