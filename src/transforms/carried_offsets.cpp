#include "transforms/carried_offsets.h"

#include <optional>

#include "analysis/affine.h"
#include "ir/builder.h"
#include "transforms/simplify.h"

namespace enceladus::transforms {
namespace {

using analysis::Sum;
using analysis::Term;
using ir::Builder;
using ir::Opcode;
using ir::Operation;
using ir::Region;
using ir::Type;
using ir::Value;

bool is_defined_inside(const Value* value, const Operation* loop) {
  const Region* region = value->definition() ? value->definition()->parent() : value->argument_of();
  for (; region && region->parent(); region = region->parent()->parent())
    if (region->parent() == loop) return true;
  return false;
}

// The scalars that a round adds to a carried value; none where it does anything else with it.
std::optional<std::vector<Value*>> advances(Operation* loop, int slot, Builder& builder) {
  Value* argument = loop->region(0)->argument(slot + 1);
  Value* next = loop->region(0)->terminator()->operand(slot);
  std::vector<Value*> steps;
  while (next != argument) {
    Operation* op = next->definition();
    bool sum = op && (op->is(Opcode::kAddPtr) || (op->is(Opcode::kAdd) && next->type().rank() > 0));
    if (!sum) return std::nullopt;
    Value* step = uniform_scalar(op->operand(1));
    if (std::optional<uint64_t> bits = ir::constant_bits(op->operand(1)); bits && !step) {
      builder.set_insertion_before(loop);
      step = builder.constant_bits(op->operand(1)->type().element(), *bits);
    }
    if (!step) return std::nullopt;
    steps.push_back(step);
    next = op->operand(0);
  }
  if (steps.empty()) return std::nullopt;
  return steps;
}

class Splitter {
 public:
  explicit Splitter(ir::Function& function) : function_(function), builder_(function) {}

  bool run(Region& region) {
    for (Operation* op : region) {
      for (Region* nested : op->regions()) run(*nested);
      if (op->is(Opcode::kFor)) loop(op);
    }
    return changed_;
  }

 private:
  void loop(Operation* op) {
    int count = op->result_count();
    for (int slot = 0; slot < count; ++slot) {
      Value* argument = op->region(0)->argument(slot + 1);
      const Type& type = argument->type();
      bool candidate = type.is_pointer() || (type.is_integer() && type.rank() > 0);
      if (!candidate || !argument->has_users()) continue;
      std::optional<std::vector<Value*>> steps = advances(op, slot, builder_);
      if (!steps) continue;
      split(op, slot, *steps);
      changed_ = true;
    }
  }

  void split(Operation* loop, int slot, const std::vector<Value*>& steps) {
    Value* argument = loop->region(0)->argument(slot + 1);
    Value* initial = loop->operand(slot + 3);
    Value* result = loop->result(slot);
    // Every offset of a pointer is exact, a sum of them too; other sums wrap as the tile does.
    DType dtype = argument->type().is_pointer() ? DType::kInt64 : argument->type().dtype();
    Offsets offsets = from_induction(loop, steps, dtype);
    if (!offsets.inside) offsets = carried(loop, steps, dtype);
    builder_.set_insertion_before(loop->region(0)->front());
    place_behind(offsets.inside);
    Value* inside = moved(initial, offsets.inside, argument->name());
    argument->replace_all_uses_with(inside);
    loop->region(0)->terminator()->set_operand(slot, argument);  // nothing; dce.h drops the slot
    if (!result->has_users()) return;
    builder_.set_insertion_after(loop);
    place_behind(offsets.behind);
    result->replace_all_uses_with(moved(initial, offsets.behind, result->name()));
  }

  struct Offsets {
    Value* inside = nullptr;
    Value* behind = nullptr;
  };

  void place_behind(Value* value) {
    if (value->definition()) builder_.set_insertion_after(value->definition());
  }

  Value* moved(Value* start, Value* offset, const std::string& name) {
    Value* tile = builder_.broadcast_to(offset, start->type().shape());
    Value* sum =
        builder_.create(start->type().is_pointer() ? Opcode::kAddPtr : Opcode::kAdd, {start, tile});
    sum->set_name(name);
    return sum;
  }

  Offsets carried(Operation* loop, const std::vector<Value*>& steps, DType dtype) {
    builder_.set_insertion_before(loop);
    loop->append_operand(builder_.integer(Type::number(dtype), 0));
    Value* argument = loop->region(0)->append_argument(Type::number(dtype));
    Operation* yield = loop->region(0)->terminator();
    builder_.set_insertion_before(yield);
    Value* next = argument;
    for (Value* step : steps)
      next = builder_.create(Opcode::kAdd, {next, builder_.cast(step, dtype)});
    yield->append_operand(next);
    return {argument, loop->append_result(Type::number(dtype))};
  }

  // (induction - lower) * sum / step, where the sum of what a round adds is a multiple of a
  // constant step and does not change in the loop.
  Offsets from_induction(Operation* loop, const std::vector<Value*>& steps, DType dtype) {
    std::optional<int64_t> step = ir::constant_integer(loop->operand(2));
    std::optional<int64_t> lower = ir::constant_integer(loop->operand(0));
    if (!step || *step <= 0 || !lower || *lower != 0 || dtype != DType::kInt64) return {};
    if (loop->operand(0)->type().dtype() == DType::kUInt64) return {};
    if (!facts_) facts_.emplace(function_);  // what is made here later has none and needs none
    analysis::AffineForms forms(function_, analysis::AffineForms::Meaning::kExact, &*facts_);
    std::optional<Sum> sum = Sum();
    for (Value* value : steps) {
      if (is_defined_inside(value, loop)) return {};
      sum = add(*sum, forms.scalar(value));
      if (!sum) return {};
    }
    if (sum->constant() % *step != 0) return {};
    for (const Term& term : sum->terms())
      if (term.coefficient % *step != 0) return {};
    builder_.set_insertion_before(loop);
    builder_.set_location_of(loop);
    Value* factor = built(*sum, *step);
    Value* rounded_up = end_of(loop, *step);
    Value* behind = builder_.create(Opcode::kMul, {rounded_up, factor});
    builder_.set_insertion_before(loop->region(0)->front());
    Value* induction = builder_.cast(loop->region(0)->argument(0), DType::kInt64);
    return {builder_.create(Opcode::kMul, {induction, factor}), behind};
  }

  // The value the induction variable has when the loop from 0 ends: the first multiple of the step
  // that is not below the upper bound.
  Value* end_of(Operation* loop, int64_t step) {
    Type type = Type::number(DType::kInt64);
    Value* upper = builder_.cast(loop->operand(1), DType::kInt64);
    upper = builder_.create(Opcode::kMax, {upper, builder_.integer(type, 0)});
    if (step == 1) return upper;
    Value* more = builder_.create(Opcode::kAdd, {upper, builder_.integer(type, step - 1)});
    Value* rounds = builder_.create(Opcode::kDiv, {more, builder_.integer(type, step)});
    return builder_.create(Opcode::kMul, {rounds, builder_.integer(type, step)});
  }

  // The sum divided by a divisor of all its coefficients, as an i64.
  Value* built(const Sum& sum, int64_t divisor) {
    Type type = Type::number(DType::kInt64);
    Value* total = nullptr;
    auto append = [&](Value* value) {
      total = total ? builder_.create(Opcode::kAdd, {total, value}) : value;
    };
    for (const Term& term : sum.terms()) {
      Value* product = nullptr;
      for (int i = 0; i < term.factor_count; ++i) {
        Value* factor = builder_.cast(term.factors[static_cast<size_t>(i)], DType::kInt64);
        product = product ? builder_.create(Opcode::kMul, {product, factor}) : factor;
      }
      int64_t coefficient = term.coefficient / divisor;
      if (coefficient != 1)
        product = builder_.create(Opcode::kMul, {product, builder_.integer(type, coefficient)});
      append(product);
    }
    if (sum.constant() != 0 || !total) append(builder_.integer(type, sum.constant() / divisor));
    return total;
  }

  ir::Function& function_;
  std::optional<analysis::Facts> facts_;
  Builder builder_;
  bool changed_ = false;
};

}  // namespace

bool split_carried_offsets(ir::Function& function) {
  return Splitter(function).run(function.body());
}

}  // namespace enceladus::transforms
