#include "transforms/dce.h"

#include <vector>

namespace enceladus::transforms {
namespace {

using ir::AttributeName;
using ir::Effect;
using ir::OpClass;
using ir::Opcode;
using ir::Operation;
using ir::Region;
using ir::Value;

bool is_needed_for_itself(const Operation& op) {
  switch (op.record().effect) {
    case Effect::kPure:
    case Effect::kControl:
      return false;
    case Effect::kRead:
      return op.results().empty() || op.integer_or(AttributeName::kVolatile, 0) != 0;
    case Effect::kWrite:
    case Effect::kReadWrite:
    case Effect::kOrdered:
      return true;
  }
  return true;
}

class DeadCode {
 public:
  explicit DeadCode(ir::Function& function)
      : function_(function),
        live_values_(function.value_count()),
        live_ops_(function.operation_count()) {}

  bool run() {
    ir::walk(function_.body(), [&](Operation* op) {
      if (is_needed_for_itself(*op)) need(op);
    });
    while (!pending_.empty()) {
      Value* value = pending_.back();
      pending_.pop_back();
      follow(value);
    }
    sweep(function_.body());
    return changed_;
  }

 private:
  void need(Value* value) {
    if (!value || live_values_[value->id()]) return;
    live_values_[value->id()] = true;
    pending_.push_back(value);
  }

  // The operation runs, and so do the loops and branches around it.
  void need(Operation* op) {
    if (!op || live_ops_[op->id()]) return;
    live_ops_[op->id()] = true;
    need(op->parent_operation());
    switch (op->opcode()) {
      case Opcode::kFor:
        for (int i = 0; i < 3; ++i) need(op->operand(i));
        return;
      case Opcode::kIf:
        return need(op->operand(0));
      case Opcode::kWhile:
        return need(op->region(0)->terminator()->operand(0));
      case Opcode::kYield:
        return;
      default:
        break;
    }
    for (Value* operand : op->operands()) need(operand);
    for (Region* region : op->regions())
      for (Operation* nested : *region) need_all(nested);
  }

  // The region of a custom combination.
  void need_all(Operation* op) {
    live_ops_[op->id()] = true;
    for (Value* result : op->results()) live_values_[result->id()] = true;
    for (Value* operand : op->operands()) need(operand);
    for (Region* region : op->regions())
      for (Operation* nested : *region) need_all(nested);
  }

  void follow(Value* value) {
    if (Operation* op = value->definition()) {
      need(op);
      if (op->record().op_class == OpClass::kControl) follow_result(op, value->index());
    } else if (Operation* loop = value->argument_of()->parent()) {
      follow_argument(loop, value);
    }
  }

  void follow_result(Operation* op, int index) {
    if (op->is(Opcode::kIf)) {
      for (Region* region : op->regions()) need(region->terminator()->operand(index));
    } else {
      need(op->region(0)->argument(index + (op->is(Opcode::kFor) ? 1 : 0)));
    }
  }

  void follow_argument(Operation* loop, Value* argument) {
    int index = argument->index();
    need(loop);
    if (loop->is(Opcode::kFor) && index > 0) {
      need(loop->operand(2 + index));
      need(loop->region(0)->terminator()->operand(index - 1));
    } else if (loop->is(Opcode::kWhile)) {
      need(loop->operand(index));
      need(loop->region(0)->argument(index));
      need(loop->region(1)->terminator()->operand(index));
    }
  }

  // Backwards, so that users go before what they use.
  void sweep(Region& region) {
    for (Operation* op = region.back(); op;) {
      Operation* previous = op->previous();
      if (op->is(Opcode::kYield)) {
        // Its operands go with the slots of the operation around it.
      } else if (!live_ops_[op->id()]) {
        op->erase();
        changed_ = true;
      } else if (op->record().op_class == OpClass::kControl) {
        sweep_control(op);
      }
      op = previous;
    }
  }

  void sweep_control(Operation* op) {
    bool loop = !op->is(Opcode::kIf);
    int skipped = op->is(Opcode::kFor) ? 1 : 0;
    std::vector<int> dead;  // the highest first
    for (int i = op->result_count() - 1; i >= 0; --i) {
      const Value* slot = loop ? op->region(0)->argument(i + skipped) : op->result(i);
      if (!live_values_[slot->id()]) dead.push_back(i);
    }
    for (int i : dead) {
      for (Region* region : op->regions())
        if (!(op->is(Opcode::kWhile) && region == op->region(0)))
          region->terminator()->erase_operand(i);
      if (loop) op->erase_operand(i + (op->is(Opcode::kFor) ? 3 : 0));
      op->erase_result(i);
      changed_ = true;
    }
    for (Region* region : op->regions()) sweep(*region);
    if (!loop) return;
    for (int i : dead)
      for (Region* region : op->regions()) region->erase_argument(i + skipped);
  }

  ir::Function& function_;
  std::vector<bool> live_values_;
  std::vector<bool> live_ops_;
  std::vector<Value*> pending_;
  bool changed_ = false;
};

}  // namespace

bool remove_dead_code(ir::Function& function) { return DeadCode(function).run(); }

}  // namespace enceladus::transforms
