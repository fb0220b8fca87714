#include "analysis/facts.h"

#include "analysis/axis_rules.h"
#include "ir/builder.h"

namespace enceladus::analysis {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Region;
using ir::Value;

// Rounds over a loop before what still grows is given up.
constexpr int kRounds = 3;

class Walk final : public AxisSource {
 public:
  Walk(const ir::Function& function, std::vector<Range>& ranges, std::vector<AxisInfo>& axes)
      : ranges_(ranges), axes_(axes) {
    for (size_t i = 0; i < function.parameters().size(); ++i)
      parameter(function.parameters()[i], function.body().argument(static_cast<int>(i)));
    for (const Operation* op : function.body()) operation(*op);
  }

  Range range(const Value* value) const override { return ranges_[value->id()]; }
  const AxisInfo& axis_info(const Value* value) const override { return axes_[value->id()]; }

 private:
  void parameter(const ir::ParameterInfo& info, const Value* value) {
    Range& range = ranges_[value->id()];
    AxisFacts& facts = axes_[value->id()].axis(0);
    range = value->type().is_integer() ? Range::of_dtype(value->type().dtype()) : Range::all();
    if (info.equal_to_1) range = Range::of(1);
    if (info.divisible_by_16 || info.aligned_16) facts.divisibility = 16;
  }

  void unknown(const Value* value) {
    bool whole = value->type().is_integer();
    ranges_[value->id()] = whole ? Range::of_dtype(value->type().dtype()) : Range::all();
    axes_[value->id()] = {};
  }

  void assign(const Value* to, const Value* from) {
    ranges_[to->id()] = ranges_[from->id()];
    axes_[to->id()] = axes_[from->id()];
  }

  // Lets `to` stand for `from` too; whether that told anything new.
  bool merge(const Value* to, const Value* from, bool give_up) {
    Range range = hull(ranges_[to->id()], ranges_[from->id()]);
    AxisInfo axes = meet(axes_[to->id()], axes_[from->id()]);
    bool changed = range != ranges_[to->id()] || axes != axes_[to->id()];
    if (changed && give_up) {
      unknown(to);
    } else if (changed) {
      ranges_[to->id()] = range;
      axes_[to->id()] = axes;
    }
    return changed;
  }

  // An assumption in a nested region holds there only: the region may not run.
  void region(const Region& region) {
    size_t mark = trail_.size();
    for (const Operation* op : region) operation(*op);
    undo(mark);
  }

  void operation(const Operation& op) {
    switch (op.opcode()) {
      case Opcode::kFor:
        return loop(op, *op.region(0), 1, op.operands().subspan(3));
      case Opcode::kWhile:
        return while_loop(op);
      case Opcode::kIf:
        return branch(op);
      case Opcode::kAssume:
        return refine(op.operand(0), true);
      default:
        break;
    }
    for (const Region* nested : op.regions()) {
      for (const Value* argument : nested->arguments()) unknown(argument);
      region(*nested);
    }
    for (int i = 0; i < op.result_count(); ++i) {
      const Value* result = op.result(i);
      ranges_[result->id()] = result_range(op, i, *this);
      axes_[result->id()] = i == 0 ? result_axis_info(op, *this) : AxisInfo();
    }
  }

  void induction(const Operation& op, const Value* variable) {
    Range lower = range(op.operand(0));
    Range upper = range(op.operand(1));
    Range step = range(op.operand(2));
    Range everything = Range::of_dtype(variable->type().dtype());
    Range values = everything;
    if (step.low > 0) {
      values = {lower.low, std::max(lower.low, (upper - Range::of(1)).high)};
    } else if (step.high < 0) {
      values = {std::min((upper + Range::of(1)).low, lower.high), lower.high};
    }
    ranges_[variable->id()] = intersection(everything, values);
    int64_t divisor = std::min(axis_info(op.operand(0)).axis(0).divisibility,
                               axis_info(op.operand(2)).axis(0).divisibility);
    axes_[variable->id()] = {};
    axes_[variable->id()].axis(0).divisibility = divisor;
  }

  // From what holds before the loop to what holds in every round.
  void loop(const Operation& op, const Region& body, int skipped, std::span<Value* const> initial) {
    if (op.is(Opcode::kFor)) induction(op, body.argument(0));
    for (size_t i = 0; i < initial.size(); ++i)
      assign(body.argument(static_cast<int>(i) + skipped), initial[i]);
    bool changed = true;
    for (int round = 1; changed; ++round) {
      region(body);
      changed = false;
      for (size_t i = 0; i < initial.size(); ++i)
        changed |= merge(body.argument(static_cast<int>(i) + skipped),
                         body.terminator()->operand(static_cast<int>(i)), round >= kRounds);
    }
    for (size_t i = 0; i < initial.size(); ++i)
      assign(op.results()[i], body.argument(static_cast<int>(i) + skipped));
  }

  void while_loop(const Operation& op) {
    const Region& before = *op.region(0);
    const Region& body = *op.region(1);
    for (int i = 0; i < op.operand_count(); ++i) assign(before.argument(i), op.operand(i));
    bool changed = true;
    for (int round = 1; changed; ++round) {
      region(before);
      for (int i = 0; i < op.operand_count(); ++i) assign(body.argument(i), before.argument(i));
      size_t mark = trail_.size();
      refine(before.terminator()->operand(0), true);
      region(body);
      undo(mark);
      changed = false;
      for (int i = 0; i < op.operand_count(); ++i)
        changed |= merge(before.argument(i), body.terminator()->operand(i), round >= kRounds);
    }
    for (int i = 0; i < op.operand_count(); ++i) assign(op.result(i), before.argument(i));
  }

  void branch(const Operation& op) {
    for (int side = 0; side < 2; ++side) {
      size_t mark = trail_.size();
      refine(op.operand(0), side == 0);
      region(*op.region(side));
      undo(mark);
    }
    for (int i = 0; i < op.result_count(); ++i) {
      assign(op.result(i), op.region(0)->terminator()->operand(i));
      merge(op.result(i), op.region(1)->terminator()->operand(i), false);
    }
  }

  // Narrows what a condition compares, where the condition is known to hold or not to.
  void refine(const Value* condition, bool holds) {
    const Operation* op = condition->definition();
    if (!op) return;
    if (op->is(Opcode::kAnd) && holds) {
      refine(op->operand(0), true);
      refine(op->operand(1), true);
      return;
    }
    if (op->is(Opcode::kOr) && !holds) {
      refine(op->operand(0), false);
      refine(op->operand(1), false);
      return;
    }
    if (op->is(Opcode::kNot)) return refine(op->operand(0), !holds);
    if (op->operand_count() != 2 || !op->operand(0)->type().is_integer()) return;
    if (op->operand(0)->type().dtype() == DType::kUInt64) return;
    compare(op->opcode(), op->operand(0), op->operand(1), holds);
  }

  void compare(Opcode opcode, const Value* a, const Value* b, bool holds) {
    Range left = range(a);
    Range right = range(b);
    Range one = Range::of(1);
    bool less = (opcode == Opcode::kLt && holds) || (opcode == Opcode::kGe && !holds);
    bool less_equal = (opcode == Opcode::kLe && holds) || (opcode == Opcode::kGt && !holds);
    bool greater = (opcode == Opcode::kGt && holds) || (opcode == Opcode::kLe && !holds);
    bool greater_equal = (opcode == Opcode::kGe && holds) || (opcode == Opcode::kLt && !holds);
    bool equal = (opcode == Opcode::kEq && holds) || (opcode == Opcode::kNe && !holds);
    if (greater || greater_equal) {
      std::swap(a, b);
      std::swap(left, right);
      less = greater;
      less_equal = greater_equal;
    }
    if (less || less_equal) {
      narrow(a, {Range().low, less ? (right - one).high : right.high});
      narrow(b, {less ? (left + one).low : left.low, Range().high});
    }
    if (equal) {
      narrow(a, right);
      narrow(b, left);
    }
  }

  void narrow(const Value* value, const Range& range) {
    trail_.push_back({value, ranges_[value->id()]});
    ranges_[value->id()] = intersection(ranges_[value->id()], range);
  }

  void undo(size_t mark) {
    for (; trail_.size() > mark; trail_.pop_back())
      ranges_[trail_.back().value->id()] = trail_.back().range;
  }

  struct Narrowed {
    const Value* value;
    Range range;
  };

  std::vector<Range>& ranges_;
  std::vector<AxisInfo>& axes_;
  std::vector<Narrowed> trail_;
};

class Lookup final : public RangeSource {
 public:
  explicit Lookup(const Facts& facts) : facts_(facts) {}
  Range range(const Value* value) const override { return facts_.range(value); }

 private:
  const Facts& facts_;
};

}  // namespace

Facts::Facts(const ir::Function& function)
    : ranges_(function.value_count()), axes_(function.value_count()) {
  Walk(function, ranges_, axes_);
}

Range Facts::range(const Value* value) const {
  if (value->id() < ranges_.size()) return ranges_[value->id()];
  return value->type().is_integer() ? Range::of_dtype(value->type().dtype()) : Range::all();
}

AxisInfo Facts::axis_info(const Value* value) const {
  return value->id() < axes_.size() ? axes_[value->id()] : AxisInfo();
}

int64_t Facts::divisibility(const Value* value) const {
  return element_divisibility(axis_info(value), value->type());
}

bool may_wrap(const Operation& op, const Facts& facts) {
  std::optional<Range> exact = exact_range(op, Lookup(facts));
  if (!exact) return false;
  Range everything = Range::of_dtype(op.result()->type().dtype());
  bool saturated = exact->low == Range().low || exact->high == Range().high;
  return saturated || !everything.contains(*exact);
}

}  // namespace enceladus::analysis
