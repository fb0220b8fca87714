#include "lowering/tile_to_simt/combine.h"

#include <map>

#include "support/check.h"

namespace enceladus::simt {
namespace {

using ir::Attribute;
using ir::AttributeName;
using ir::CombineKind;
using ir::Opcode;
using ir::Operation;
using ir::Value;

Opcode simple_opcode(CombineKind kind) {
  switch (kind) {
    case CombineKind::kAdd:
      return Opcode::kAdd;
    case CombineKind::kMultiply:
      return Opcode::kMul;
    case CombineKind::kMax:
      return Opcode::kMax;
    case CombineKind::kMin:
      return Opcode::kMin;
    default:
      return Opcode::kXor;
  }
}

// Numbers before NaN, then the larger (or smaller), then the lower index.
Values better_of(ir::Builder& builder, bool larger, const Values& left, const Values& right) {
  auto make = [&](Opcode opcode, Value* a, Value* b) { return builder.create(opcode, {a, b}); };
  Value* wins = make(larger ? Opcode::kGt : Opcode::kLt, right[0], left[0]);
  Value* ties = make(Opcode::kEq, right[0], left[0]);
  if (left[0]->type().is_float()) {
    Value* left_nan = make(Opcode::kNe, left[0], left[0]);
    Value* right_nan = make(Opcode::kNe, right[0], right[0]);
    Value* only_left = make(Opcode::kGt, left_nan, right_nan);
    wins = make(Opcode::kOr, wins, only_left);
    ties = make(Opcode::kOr, ties, make(Opcode::kAnd, left_nan, right_nan));
  }
  Value* earlier = make(Opcode::kLt, right[1], left[1]);
  wins = make(Opcode::kOr, wins, make(Opcode::kAnd, ties, earlier));
  return {builder.create(Opcode::kSelect, {right[0], left[0], wins}),
          builder.create(Opcode::kSelect, {right[1], left[1], wins})};
}

// The region's operations on arrays of the arguments' shape.
class Inliner {
 public:
  Inliner(ir::Builder& builder, const Outside& outside, std::span<const int64_t> shape)
      : builder_(builder), outside_(outside), shape_(shape) {}

  Values run(const ir::Region& region, const Values& arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) values_[region.arguments()[i]] = arguments[i];
    for (const Operation* op : region) {
      if (!op->is(Opcode::kYield)) operation(*op);
    }
    Values results;
    for (const Value* value : region.terminator()->operands()) results.push_back(value_of(value));
    return results;
  }

 private:
  void operation(const Operation& op) {
    if (op.is(Opcode::kIf)) return branch(op);
    Values operands;
    for (const Value* operand : op.operands())
      operands.push_back(operand ? value_of(operand) : nullptr);
    ENC_CHECK(op.regions().empty() && op.result_count() == 1,
              "a combination holds more than arithmetic");
    if (op.is(Opcode::kHint)) {
      values_[op.result()] = operands.front();
      return;
    }
    ir::Type type = op.result()->type().with_shape(shape_);
    std::vector<Attribute> attributes(op.attributes().begin(), op.attributes().end());
    values_[op.result()] =
        builder_.create(op.opcode(), operands, std::span(&type, 1), std::move(attributes))
            ->result();
  }

  // Both sides, which have no effects, and a choice for each element.
  void branch(const Operation& op) {
    for (const ir::Region* region : op.regions())
      for (const Operation* nested : *region)
        if (!nested->is(Opcode::kYield)) operation(*nested);
    Value* condition = value_of(op.operand(0));
    for (int i = 0; i < op.result_count(); ++i) {
      Value* then = value_of(op.region(0)->terminator()->operand(i));
      Value* otherwise = value_of(op.region(1)->terminator()->operand(i));
      values_[op.result(i)] = builder_.create(Opcode::kSelect, {then, otherwise, condition});
    }
  }

  // A value from outside is the same for every element.
  Value* value_of(const Value* value) {
    auto found = values_.find(value);
    if (found != values_.end()) return found->second;
    Value* scalar = outside_(value);
    return builder_.create_typed(Opcode::kSplat, {scalar}, scalar->type().with_shape(shape_));
  }

  ir::Builder& builder_;
  const Outside& outside_;
  std::span<const int64_t> shape_;
  std::map<const Value*, Value*> values_;
};

}  // namespace

Values combine(ir::Builder& builder, const Outside& outside, const Operation& op,
               const Values& left, const Values& right) {
  CombineKind kind = op.enumerator<CombineKind>(AttributeName::kCombine);
  switch (kind) {
    case CombineKind::kArgMax:
    case CombineKind::kArgMin:
      return better_of(builder, kind == CombineKind::kArgMax, left, right);
    case CombineKind::kCustom: {
      Values arguments = left;
      arguments.insert(arguments.end(), right.begin(), right.end());
      return Inliner(builder, outside, left.front()->type().shape()).run(*op.region(0), arguments);
    }
    default: {
      std::vector<Attribute> attributes;
      if (op.integer_or(AttributeName::kPropagateNan, 0))
        attributes.push_back({AttributeName::kPropagateNan, int64_t{1}});
      return {builder.create(simple_opcode(kind), {left[0], right[0]}, std::move(attributes))};
    }
  }
}

bool is_sided(const Operation& op, const SimtTarget& target) {
  CombineKind kind = op.enumerator<CombineKind>(AttributeName::kCombine);
  // max(0.0, -0.0) may be either.
  bool extremum = kind == CombineKind::kMax || kind == CombineKind::kMin;
  bool may_differ = extremum && !target.has_symmetric_extrema;
  return kind == CombineKind::kCustom || (may_differ && op.operand(0)->type().is_float());
}

}  // namespace enceladus::simt
