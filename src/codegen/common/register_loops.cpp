// Loops over registers: collects elementwise operations that can share one and writes them.
#include <algorithm>
#include <functional>

#include "codegen/common/emitter.h"
#include "support/check.h"

namespace enceladus::codegen {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

// Whether the value, written out where it is used, takes other registers of a pending one.
bool Emitter::reads_other_registers(const Value* value) const {
  const Operation* op = value->definition();
  if (!op || value->type().rank() == 0 || !is_inline(*op)) return false;
  if (op->is(Opcode::kRegisters)) {
    std::function<bool(const Value*)> touches = [&](const Value* v) -> bool {
      const Operation* made = v->definition();
      if (!made) return false;
      if (std::ranges::find(pending_, made) != pending_.end()) return true;
      return is_inline(*made) && std::ranges::any_of(made->operands(), touches);
    };
    return touches(op->operand(0));
  }
  return std::ranges::any_of(op->operands(),
                             [&](const Value* v) { return v && reads_other_registers(v); });
}

void Emitter::append(const Operation& op) {
  if (!pending_.empty()) {
    bool fits = registers_of(pending_.front()->result()) == registers_of(op.result());
    for (const Value* operand : op.operands()) fits = fits && !reads_other_registers(operand);
    if (!fits) flush();
  }
  pending_.push_back(&op);
}

// Whether every use of a pending value stands in the loop being written, at its own register.
bool Emitter::is_local(const Value* value) const {
  std::function<bool(const Value*)> within = [&](const Value* v) {
    return std::ranges::all_of(v->users(), [&](const Operation* user) {
      if (std::ranges::find(pending_, user) != pending_.end()) return true;
      return user->is(Opcode::kAddPtr) && is_inline(*user) && within(user->result());
    });
  };
  return within(value);
}

void Emitter::flush() {
  if (pending_.empty()) return;
  int64_t registers = registers_of(pending_.front()->result());
  bool is_loop = registers > 1;
  std::vector<bool> local;
  for (const Operation* op : pending_) local.push_back(is_loop && is_local(op->result()));
  for (size_t i = 0; i < pending_.size(); ++i)
    if (is_loop && !local[i]) declare(pending_[i]->result());
  Index index = open_registers(registers);
  for (size_t i = 0; i < pending_.size(); ++i) {
    const Operation& op = *pending_[i];
    out_.at(op.location());
    std::string value = element_expression(op, index);
    const std::string& name = name_of(op.result());
    if (is_loop && !local[i]) {
      out_.line(name + "[r] = " + value + ";");
      continue;
    }
    locals_[op.result()->id()] = true;
    bool is_pointer = op.result()->type().is_pointer();
    out_.line((is_pointer ? "" : "const ") + type_of(op.result()) + " " + name + " = " + value +
              ";");
  }
  close_registers(registers);
  pending_.clear();
}

}  // namespace enceladus::codegen
