#include "transforms/simplify_control.h"

#include <optional>

#include "ir/builder.h"

namespace enceladus::transforms {
namespace {

using ir::Opcode;
using ir::Operation;
using ir::Region;
using ir::Value;

// Moves the region's operations in front of `op`, puts what it yields in place of the results and
// erases `op`.
void inline_region(Operation* op, Region* region) {
  Operation* yield = region->terminator();
  for (Operation* inner : *region)
    if (inner != yield) inner->move_before(op);
  for (int i = 0; i < op->result_count(); ++i)
    op->result(i)->replace_all_uses_with(yield->operand(i));
  op->erase();
}

// How often the loop runs, where that is known to be 0 or 1.
std::optional<int> rounds(const Operation& loop) {
  std::optional<int64_t> step = ir::constant_integer(loop.operand(2));
  if (loop.operand(0) == loop.operand(1)) return 0;
  std::optional<int64_t> lower = ir::constant_integer(loop.operand(0));
  std::optional<int64_t> upper = ir::constant_integer(loop.operand(1));
  bool huge = loop.operand(0)->type().dtype() == DType::kUInt64;
  if (!step || !lower || !upper || *step == 0 || huge) return std::nullopt;
  bool up = *step > 0;
  if (up ? *lower >= *upper : *lower <= *upper) return 0;
  int64_t next;
  bool past =
      __builtin_add_overflow(*lower, *step, &next) || (up ? next >= *upper : next <= *upper);
  return past ? std::optional(1) : std::nullopt;
}

bool simplify_if(Operation* op) {
  if (std::optional<uint64_t> condition = ir::constant_bits(op->operand(0))) {
    inline_region(op, op->region(*condition ? 0 : 1));
    return true;
  }
  bool changed = false;
  for (int i = 0; i < op->result_count(); ++i) {
    Value* value = op->region(0)->terminator()->operand(i);
    if (value != op->region(1)->terminator()->operand(i) || !op->result(i)->has_users()) continue;
    op->result(i)->replace_all_uses_with(value);
    changed = true;
  }
  return changed;
}

// A value that every round passes on as it came.
bool simplify_carried(Operation* loop) {
  bool changed = false;
  int skipped = loop->is(Opcode::kFor) ? 1 : 0;
  Region* body = loop->regions().back();
  for (int i = 0; i < loop->result_count(); ++i) {
    Value* initial = loop->operand(i + (skipped ? 3 : 0));
    Value* next = body->terminator()->operand(i);
    if (next != initial && next != body->argument(i + skipped)) continue;
    // The slot itself stays for dce.h.
    auto replace = [&](Value* value) {
      if (!value->has_users()) return;
      value->replace_all_uses_with(initial);
      changed = true;
    };
    for (Region* region : loop->regions()) replace(region->argument(i + skipped));
    replace(loop->result(i));
  }
  return changed;
}

bool simplify_for(Operation* loop) {
  std::optional<int> count = rounds(*loop);
  if (!count) return simplify_carried(loop);
  if (*count == 0) {
    for (int i = 0; i < loop->result_count(); ++i)
      loop->result(i)->replace_all_uses_with(loop->operand(i + 3));
    loop->erase();
    return true;
  }
  Region* body = loop->region(0);
  body->argument(0)->replace_all_uses_with(loop->operand(0));
  for (int i = 0; i < loop->result_count(); ++i)
    body->argument(i + 1)->replace_all_uses_with(loop->operand(i + 3));
  inline_region(loop, body);
  return true;
}

bool simplify(Region& region) {
  bool changed = false;
  for (Operation* op : region) {
    for (Region* nested : op->regions()) changed |= simplify(*nested);
    if (op->is(Opcode::kIf)) {
      changed |= simplify_if(op);
    } else if (op->is(Opcode::kFor)) {
      changed |= simplify_for(op);
    } else if (op->is(Opcode::kWhile)) {
      changed |= simplify_carried(op);
    }
  }
  return changed;
}

}  // namespace

bool simplify_control(ir::Function& function) { return simplify(function.body()); }

}  // namespace enceladus::transforms
