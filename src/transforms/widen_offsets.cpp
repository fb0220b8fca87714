#include "transforms/widen_offsets.h"

#include <vector>

#include "analysis/facts.h"
#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::transforms {
namespace {

using ir::Opcode;
using ir::Operation;
using ir::Region;
using ir::Type;
using ir::Value;

// Whether a conversion keeps every value.
bool keeps_values(DType from, DType to) {
  if (is_float(from) || is_float(to) || is_bool(from) || is_bool(to)) return false;
  if (from == to) return true;
  if (is_signed(to)) return bit_width(to) > bit_width(from);
  return !is_signed(from) && bit_width(to) >= bit_width(from);
}

// The operands that an exact result is made of: the first `count` ones. 0 for a value of its own.
int exact_operands(const Operation& op) {
  DType dtype = op.result()->type().dtype();
  switch (op.opcode()) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
      return 2;
    case Opcode::kNeg:
    case Opcode::kSplat:
    case Opcode::kBroadcast:
    case Opcode::kExpandDims:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kHint:
      return 1;
    case Opcode::kShl: {
      std::optional<int64_t> amount = ir::constant_integer(op.operand(1));
      return amount && *amount >= 0 && *amount < bit_width(dtype) ? 1 : 0;
    }
    case Opcode::kDiv:
    case Opcode::kRem:
    case Opcode::kMin:
    case Opcode::kMax:
      return is_signed(dtype) ? 2 : 0;
    case Opcode::kAbs:
      return is_signed(dtype) ? 1 : 0;
    case Opcode::kSelect:
      return 2;
    case Opcode::kCast:
      return keeps_values(op.operand(0)->type().dtype(), dtype) ? 1 : 0;
    default:
      return 0;
  }
}

class Widener {
 public:
  explicit Widener(ir::Function& function) : builder_(function), facts_(function) {}

  bool run(Region& body) {
    std::vector<Operation*> accesses;
    ir::walk(body, [&](Operation* op) {
      if (first_offset(*op) >= 0) accesses.push_back(op);
    });
    bool changed = false;
    for (Operation* op : accesses) {
      for (int i = first_offset(*op); i < op->operand_count(); ++i) {
        if (!needs(op->operand(i))) continue;
        op->set_operand(i, exact(op->operand(i)));
        changed = true;
      }
    }
    return changed;
  }

 private:
  enum class Need : uint8_t { kUnknown, kAssumed, kNo, kYes };

  static int first_offset(const Operation& op) {
    switch (op.opcode()) {
      case Opcode::kAddPtr:
      case Opcode::kDescriptorLoad:
        return 1;
      case Opcode::kDescriptorStore:
        return 2;
      case Opcode::kMakeDescriptor:  // the strides
        return 1 + op.result()->type().rank();
      default:
        return -1;
    }
  }

  Need& need_of(const Value* value) {
    if (value->id() >= needs_.size()) needs_.resize(value->id() + 1, Need::kUnknown);
    return needs_[value->id()];
  }

  // Whether the value at its own type may differ from the exact one.
  bool needs(Value* value) {
    if (!value->type().is_integer()) return false;
    Need known = need_of(value);
    if (known == Need::kAssumed) assumed_ = true;
    if (known != Need::kUnknown) return known == Need::kYes;
    need_of(value) = Need::kAssumed;  // around a loop: no, unless a round says otherwise
    bool result = value->definition() ? operation_needs(*value->definition(), value->index())
                                      : argument_needs(value);
    if (result && assumed_) {  // what was found on that assumption is open again
      for (Need& need : needs_)
        if (need == Need::kNo) need = Need::kUnknown;
      assumed_ = false;
    }
    need_of(value) = result ? Need::kYes : Need::kNo;
    return result;
  }

  bool operation_needs(const Operation& op, int result) {
    if (op.record().op_class == ir::OpClass::kControl) {
      if (op.is(Opcode::kIf))
        return needs(op.region(0)->terminator()->operand(result)) ||
               needs(op.region(1)->terminator()->operand(result));
      return needs(op.region(0)->argument(result + (op.is(Opcode::kFor) ? 1 : 0)));
    }
    if (op.result_count() != 1) return false;
    int count = exact_operands(op);
    if (count == 0) return false;
    if (bit_width(op.result()->type().dtype()) < 64 && analysis::may_wrap(op, facts_)) return true;
    for (int i = 0; i < count; ++i)
      if (needs(op.operand(i))) return true;
    return false;
  }

  struct Slot {
    Value* initial;
    Value* next;
  };

  // What a carried argument holds in the first and in each later round; null where it is none.
  static Slot slot_of(const Value* argument) {
    const Operation* loop = argument->argument_of()->parent();
    int index = argument->index();
    if (!loop || (loop->is(Opcode::kFor) && index == 0)) return {};
    if (loop->is(Opcode::kFor))
      return {loop->operand(2 + index), loop->region(0)->terminator()->operand(index - 1)};
    if (loop->is(Opcode::kWhile))
      return {loop->operand(index), loop->region(1)->terminator()->operand(index)};
    return {};
  }

  bool argument_needs(const Value* argument) {
    Slot slot = slot_of(argument);
    return slot.initial && (needs(slot.initial) || needs(slot.next));
  }

  Value*& exact_of(const Value* value) {
    if (value->id() >= exact_.size()) exact_.resize(value->id() + 1, nullptr);
    return exact_[value->id()];
  }

  // The 64-bit exact value; made behind the value itself.
  Value* exact(Value* value) {
    if (Value* known = exact_of(value)) return known;
    Value* result = nullptr;
    if (!needs(value)) {
      result = extended(value);
    } else if (!value->definition()) {
      widen_loop(value->argument_of()->parent(), value->index());
      result = exact_of(value);
    } else if (value->definition()->is(Opcode::kIf)) {
      result = widen_branch(value->definition(), value->index());
    } else if (value->definition()->record().op_class == ir::OpClass::kControl) {
      Operation* loop = value->definition();
      exact(loop->region(0)->argument(value->index() + (loop->is(Opcode::kFor) ? 1 : 0)));
      result = exact_of(value);
    } else {
      result = widen_operation(value->definition());
    }
    return exact_of(value) = result;
  }

  Value* extended(Value* value) {
    if (value->type().dtype() == DType::kInt64) return value;
    if (Operation* op = value->definition()) {
      builder_.set_insertion_after(op);
      builder_.set_location_of(op);
    } else {
      Region* region = value->argument_of();
      builder_.set_insertion_before(region->front());
    }
    if (std::optional<int64_t> constant = ir::constant_integer(value))
      return builder_.integer(value->type().with_dtype(DType::kInt64), *constant);
    return builder_.cast(value, DType::kInt64);
  }

  Value* widen_operation(Operation* op) {
    std::vector<Value*> operands(op->operands().begin(), op->operands().end());
    int count = exact_operands(*op);
    for (int i = 0; i < count; ++i) operands[static_cast<size_t>(i)] = exact(op->operand(i));
    if (op->is(Opcode::kCast)) return operands[0];
    if (op->is(Opcode::kShl)) operands[1] = extended(op->operand(1));
    builder_.set_insertion_after(op);
    builder_.set_location_of(op);
    Type type = op->result()->type().with_dtype(DType::kInt64);
    std::vector<ir::Attribute> attributes(op->attributes().begin(), op->attributes().end());
    Value* result =
        builder_.create(op->opcode(), operands, std::span(&type, 1), std::move(attributes))
            ->result();
    result->set_name(op->result()->name());
    return result;
  }

  Value* widen_branch(Operation* op, int index) {
    Value* values[2];
    for (int i = 0; i < 2; ++i) values[i] = exact(op->region(i)->terminator()->operand(index));
    // Both first: on the way a loop around may have asked for this result, or for another one.
    if (Value* known = exact_of(op->result(index))) return known;
    for (int i = 0; i < 2; ++i) op->region(i)->terminator()->append_operand(values[i]);
    return op->append_result(op->result(index)->type().with_dtype(DType::kInt64));
  }

  // A second slot beside the carried one of this argument index.
  void widen_loop(Operation* loop, int index) {
    int slot = index - (loop->is(Opcode::kFor) ? 1 : 0);
    Value* argument = loop->region(0)->argument(index);
    Value* initial = exact(slot_of(argument).initial);
    if (exact_of(argument)) return;  // a loop around asked for it on the way
    loop->append_operand(initial);
    Type type = argument->type().with_dtype(DType::kInt64);
    for (Region* region : loop->regions())
      exact_of(region->argument(index)) = region->append_argument(type, argument->name());
    exact_of(loop->result(slot)) = loop->append_result(type);
    Operation* yield = loop->regions().back()->terminator();
    // The place in the yield comes first: what is handed on may need further slots.
    int place = yield->operand_count();
    yield->append_operand(exact_of(loop->regions().back()->argument(index)));
    yield->set_operand(place, exact(yield->operand(slot)));
  }

  ir::Builder builder_;
  analysis::Facts facts_;
  std::vector<Need> needs_;
  bool assumed_ = false;  // an assumption was relied on since `needs_` was last right
  std::vector<Value*> exact_;
};

}  // namespace

bool widen_offsets(ir::Function& function) { return Widener(function).run(function.body()); }

}  // namespace enceladus::transforms
