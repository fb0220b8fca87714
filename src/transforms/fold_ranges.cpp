#include "transforms/fold_ranges.h"

#include <algorithm>

#include "analysis/affine.h"
#include "analysis/facts.h"
#include "ir/builder.h"
#include "ir/op_rules.h"

namespace enceladus::transforms {
namespace {

using analysis::Affine;
using analysis::AffineForms;
using analysis::Facts;
using analysis::Range;
using ir::Opcode;
using ir::Operation;
using ir::Value;

// An assumption must not prove itself, or it is lost to the next pass.
bool is_assumed(const Value* value) {
  return std::any_of(value->users().begin(), value->users().end(),
                     [](const Operation* user) { return user->is(Opcode::kAssume); });
}

class RangeFolder {
 public:
  explicit RangeFolder(ir::Function& function)
      : builder_(function),
        facts_(function),
        forms_(function, AffineForms::Meaning::kWrapping, &facts_) {}

  bool run(ir::Region& region) {
    bool changed = false;
    for (Operation* op : region) {
      for (ir::Region* nested : op->regions()) changed |= run(*nested);
      if (op->record().effect != ir::Effect::kPure || op->result_count() != 1) continue;
      if (op->is(Opcode::kConstant) || !op->result()->type().is_integer()) continue;
      if (!op->result()->has_users() || is_assumed(op->result())) continue;
      Value* value = replacement(op);
      if (!value) continue;
      op->result()->replace_all_uses_with(value);
      changed = true;
    }
    return changed;
  }

 private:
  Value* replacement(Operation* op) {
    Value* result = op->result();
    Range range = facts_.range(result);
    if (range.is_single()) return constant(op, range.low);
    if (ir::op_rules(op->opcode()).result == ir::ResultRule::kBoolLike) return compared(op);
    if (op->operand_count() != 2 || result->type().dtype() == DType::kUInt64) return nullptr;
    return unchanged(op);
  }

  Value* constant(Operation* op, int64_t value) {
    builder_.set_insertion_before(op);
    builder_.set_location_of(op);
    return builder_.integer(op->result()->type(), value);
  }

  // By the difference of the two sides, in which equal parts cancel.
  Value* compared(Operation* op) {
    bool swapped = op->is(Opcode::kGt) || op->is(Opcode::kLe);
    bool ordered = swapped || op->is(Opcode::kLt) || op->is(Opcode::kGe);
    if (!ordered || !op->operand(0)->type().is_integer()) return nullptr;
    const Affine* a = forms_.of(op->operand(swapped ? 1 : 0));
    const Affine* b = forms_.of(op->operand(swapped ? 0 : 1));
    if (!a || !b) return nullptr;
    std::optional<Range> difference = range_of_difference(*a, *b, op->operand(0)->type());
    if (!difference) return nullptr;
    bool strict = op->is(Opcode::kLt) || op->is(Opcode::kGt);
    if (difference->high < 0) return constant(op, strict ? 1 : 0);
    if (difference->low >= 0) return constant(op, strict ? 0 : 1);
    return nullptr;
  }

  std::optional<Range> range_of_difference(const Affine& a, const Affine& b, const ir::Type& type) {
    std::optional<analysis::Sum> base = subtract(a.base, b.base);
    if (!base) return std::nullopt;
    Range range = analysis::range_of(*base, facts_);
    for (size_t axis = 0; axis < a.strides.size(); ++axis) {
      std::optional<analysis::Sum> stride = subtract(a.strides[axis], b.strides[axis]);
      if (!stride) return std::nullopt;
      range = range + analysis::range_of(*stride, facts_) *
                          Range{0, type.extent(static_cast<int>(axis)) - 1};
    }
    return range;
  }

  // The first operand, or the second, where the operation gives just that.
  Value* unchanged(Operation* op) {
    Range a = facts_.range(op->operand(0));
    Range b = facts_.range(op->operand(1));
    switch (op->opcode()) {
      case Opcode::kMin:
        return a.high <= b.low ? op->operand(0) : b.high <= a.low ? op->operand(1) : nullptr;
      case Opcode::kMax:
        return a.low >= b.high ? op->operand(0) : b.low >= a.high ? op->operand(1) : nullptr;
      case Opcode::kRem:
        return a.low >= 0 && a.high < b.low ? op->operand(0) : nullptr;
      default:
        return nullptr;
    }
  }

  ir::Builder builder_;
  Facts facts_;
  AffineForms forms_;
};

}  // namespace

bool fold_ranges(ir::Function& function) { return RangeFolder(function).run(function.body()); }

}  // namespace enceladus::transforms
