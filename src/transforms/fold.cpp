#include "transforms/fold.h"

#include "transforms/simplify.h"

namespace enceladus::transforms {
namespace {

using ir::Opcode;
using ir::Operation;
using ir::Region;
using ir::Value;

bool is_constant_mask(const Value* mask, bool on) {
  std::optional<uint64_t> bits = ir::constant_bits(mask);
  return bits && (*bits != 0) == on;
}

class Folder {
 public:
  explicit Folder(ir::Function& function) : simplifier_(function) { parameters(function); }

  bool run(Region& region) {
    for (Operation* op : region) {
      for (Region* nested : op->regions()) run(*nested);
      operation(op);
    }
    return changed_;
  }

 private:
  // A parameter that is known to be 1 stays in the signature, its uses become the constant.
  void parameters(ir::Function& function) {
    for (size_t i = 0; i < function.parameters().size(); ++i) {
      Value* value = function.body().argument(static_cast<int>(i));
      if (!function.parameters()[i].equal_to_1 || !value->has_users()) continue;
      ir::Builder& builder = simplifier_.builder();
      builder.set_insertion_before(function.body().front());
      value->replace_all_uses_with(builder.integer(value->type(), 1));
      changed_ = true;
    }
  }

  void operation(Operation* op) {
    simplifier_.clear_changed();
    if (Value* value = simplifier_.simplified(op)) {
      if (value->name().empty()) value->set_name(op->result()->name());
      op->result()->replace_all_uses_with(value);
      op->erase();
      changed_ = true;
      return;
    }
    changed_ |= simplifier_.changed();
    masked(op);
  }

  // Memory operations whose mask is decided.
  void masked(Operation* op) {
    switch (op->opcode()) {
      case Opcode::kLoad:
        return load(op);
      case Opcode::kStore:
        if (is_constant_mask(op->operand(2), false)) return drop(op);
        return unmask(op, 2);
      case Opcode::kAtomicRmw:
        if (is_constant_mask(op->operand(2), false)) return replace_by_zero(op);
        return unmask(op, 2);
      case Opcode::kDeviceAssert:
        if (is_constant_mask(op->operand(0), true) || is_constant_mask(op->operand(1), false))
          return drop(op);
        return unmask(op, 1);
      case Opcode::kAssume:
        if (is_constant_mask(op->operand(0), true)) return drop(op);
        return;
      default:
        return;
    }
  }

  void load(Operation* op) {
    if (is_constant_mask(op->operand(1), false)) {
      if (!op->operand(2)) return replace_by_zero(op);
      op->result()->replace_all_uses_with(op->operand(2));
      return drop(op);
    }
    unmask(op, 1);
    // Elements that the mask leaves out are 0 anyway, and without a mask there are none.
    std::optional<uint64_t> other = ir::constant_bits(op->operand(2));
    if (op->operand(2) && (!op->operand(1) || other == uint64_t{0})) {
      op->set_operand(2, nullptr);
      changed_ = true;
    }
  }

  void unmask(Operation* op, int mask) {
    if (!is_constant_mask(op->operand(mask), true)) return;
    op->set_operand(mask, nullptr);
    changed_ = true;
  }

  void replace_by_zero(Operation* op) {
    ir::Builder& builder = simplifier_.builder();
    builder.set_insertion_before(op);
    builder.set_location_of(op);
    op->result()->replace_all_uses_with(builder.constant_bits(op->result()->type(), 0));
    drop(op);
  }

  void drop(Operation* op) {
    op->erase();
    changed_ = true;
  }

  Simplifier simplifier_;
  bool changed_ = false;
};

}  // namespace

bool fold(ir::Function& function) { return Folder(function).run(function.body()); }

}  // namespace enceladus::transforms
