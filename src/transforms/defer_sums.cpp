#include "transforms/defer_sums.h"

#include <bit>
#include <set>
#include <vector>

#include "ir/builder.h"

namespace enceladus::transforms {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Region;
using ir::Value;

// The operand that an operation combines with what another lane has of it; null where it does
// something else. `mask`: which bit of the lane the other one differs in.
Value* exchanged(const Operation* op, int64_t& mask) {
  for (int i = 0; i < 2; ++i) {
    const Operation* other = op->operand(i)->definition();
    if (!other || !other->is(Opcode::kShuffleXor) || other->operand(0) != op->operand(1 - i))
      continue;
    mask = other->integer(AttributeName::kMask);
    return std::has_single_bit(static_cast<uint64_t>(mask)) ? op->operand(1 - i) : nullptr;
  }
  return nullptr;
}

bool is_symmetric(Opcode opcode) {
  return opcode == Opcode::kAdd || opcode == Opcode::kMul || opcode == Opcode::kMin ||
         opcode == Opcode::kMax;
}

// Whether lanes that differ in the mask's bit hold the same. What a loop carries is the same in its
// first turn and in the next one if it was in the turn before, so cycles are taken for granted.
class Agreement {
 public:
  explicit Agreement(int64_t mask) : mask_(mask) {}

  bool of(const Value* value) {
    if (!value || !seen_.insert(value).second) return true;
    return value->definition() ? of_result(value) : of_argument(value);
  }

 private:
  bool of_argument(const Value* value) {
    const Region* region = value->argument_of();
    const Operation* loop = region->parent();
    if (!loop) return true;
    if (!loop->is(Opcode::kFor)) return false;
    if (value->index() == 0) return true;
    return of(loop->operand(2 + value->index())) &&
           of(region->terminator()->operand(value->index() - 1));
  }

  bool of_result(const Value* value) {
    const Operation* op = value->definition();
    switch (op->opcode()) {
      case Opcode::kConstant:
      case Opcode::kProgramId:
      case Opcode::kNumPrograms:
        return true;
      case Opcode::kLinear:
        return op->integers(AttributeName::kLaneBases)[static_cast<size_t>(
                   std::countr_zero(static_cast<uint64_t>(mask_)))] == 0;
      case Opcode::kRegisters:
      case Opcode::kSplat:
      case Opcode::kShuffleXor:
        return of(op->operand(0));
      case Opcode::kFor:
        return of(op->operand(3 + value->index())) &&
               of(op->region(0)->terminator()->operand(value->index()));
      default:
        break;
    }
    if (op->record().op_class != ir::OpClass::kElementwise) return false;
    int64_t exchange = 0;
    if (is_symmetric(op->opcode()) && exchanged(op, exchange) && exchange == mask_) return true;
    for (const Value* operand : op->operands())
      if (!of(operand)) return false;
    return true;
  }

  int64_t mask_;
  std::set<const Value*> seen_;
};

class Deferrer {
 public:
  explicit Deferrer(ir::Function& function) : builder_(function) {}

  bool run(Region& region) {
    for (Operation* op : region) {
      for (Region* nested : op->regions()) run(*nested);
      if (!op->is(Opcode::kFor)) continue;
      for (int slot = 0; slot < op->result_count(); ++slot) loop(op, slot);
    }
    return changed_;
  }

 private:
  void loop(Operation* op, int slot) {
    Operation* next = op->region(0)->terminator()->operand(slot)->definition();
    if (!next || !next->is(Opcode::kAdd) || next->parent() != op->region(0)) return;
    if (!is_float(next->result()->type().dtype()) || next->result()->users().size() != 1) return;
    if (ir::constant_bits(op->operand(3 + slot)) != 0) return;
    Value* sum = op->region(0)->argument(1 + slot);
    if (sum->users().size() != 1) return;
    for (int side = 0; side < 2; ++side) {
      Value* scale = nullptr;
      if (!is_scaled(next->operand(side), sum, scale)) continue;
      defer(op, slot, next, 1 - side, scale);
      return;
    }
  }

  // Whether the value is the running sum, maybe times `scale`.
  static bool is_scaled(const Value* value, const Value* sum, Value*& scale) {
    if (value == sum) return true;
    const Operation* op = value->definition();
    if (!op || !op->is(Opcode::kMul) || value->users().size() != 1) return false;
    for (int i = 0; i < 2; ++i) {
      if (op->operand(i) != sum) continue;
      scale = op->operand(1 - i);
      return true;
    }
    return false;
  }

  void defer(Operation* op, int slot, Operation* next, int side, const Value* scale) {
    std::vector<int64_t> masks;  // last exchange first
    std::vector<Operation*> exchanges;
    Value* part = next->operand(side);
    size_t uses = 1;  // of what an exchange gives; of what goes in, its own two
    while (Operation* combined = part->definition()) {
      int64_t mask = 0;
      Value* own = combined->is(Opcode::kAdd) && part->users().size() == uses
                       ? exchanged(combined, mask)
                       : nullptr;
      if (!own || (scale && !Agreement(mask).of(scale))) break;
      masks.push_back(mask);
      exchanges.push_back(combined);
      exchanges.push_back(
          (combined->operand(0) == own ? combined->operand(1) : combined->operand(0))
              ->definition());
      part = own;
      uses = 2;
    }
    if (masks.empty()) return;
    next->set_operand(side, part);
    for (Operation* exchange : exchanges) exchange->erase();
    gather(op, slot, masks);
    changed_ = true;
  }

  void gather(Operation* op, int slot, const std::vector<int64_t>& masks) {
    Value* parts = op->result(slot);
    std::vector<Operation*> users(parts->users().begin(), parts->users().end());
    builder_.set_insertion_after(op);
    builder_.set_location_of(op);
    Value* whole = parts;
    for (auto mask = masks.rbegin(); mask != masks.rend(); ++mask) {
      Value* other = builder_.create(Opcode::kShuffleXor, {whole}, {{AttributeName::kMask, *mask}});
      whole = builder_.create(Opcode::kAdd, {whole, other});
    }
    for (Operation* user : users)
      for (int i = 0; i < user->operand_count(); ++i)
        if (user->operand(i) == parts) user->set_operand(i, whole);
  }

  ir::Builder builder_;
  bool changed_ = false;
};

}  // namespace

bool defer_sums(ir::Function& function) {
  if (function.options().math_mode == ir::MathMode::kPrecise) return false;
  return Deferrer(function).run(function.body());
}

}  // namespace enceladus::transforms
