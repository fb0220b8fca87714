#include "transforms/narrow_offsets.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "ir/builder.h"

namespace enceladus::transforms {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

bool is_wide(const Value* offset) { return byte_size(offset->type().dtype()) == 8; }

// The parameter behind a pointer and the offsets added to it; none where it is something else.
struct Chain {
  Value* parameter = nullptr;
  std::vector<Value*> offsets;
};

std::optional<Chain> chain_of(Value* pointer) {
  Chain chain;
  while (const Operation* op = pointer->definition()) {
    if (op->is(Opcode::kAddPtr))
      chain.offsets.push_back(op->operand(1));
    else if (!op->is(Opcode::kSplat))
      return std::nullopt;
    pointer = op->operand(0);
  }
  if (pointer->argument_of()->parent()) return std::nullopt;
  chain.parameter = pointer;
  return chain;
}

class Narrower {
 public:
  explicit Narrower(ir::Function& function) : function_(function), builder_(function) {}

  bool run() {
    std::vector<Operation*> sums;
    ir::walk(function_.body(), [&](Operation* op) {
      if (op->is(Opcode::kAddPtr) && op->result()->type().rank() > 0) sums.push_back(op);
    });
    for (Operation* op : sums) narrow(op);
    return changed_;
  }

 private:
  void narrow(Operation* op) {
    std::optional<Chain> chain = chain_of(op->result());
    if (!chain) return;
    bool has_wide_array = std::ranges::any_of(
        chain->offsets, [](const Value* v) { return v->type().rank() > 0 && is_wide(v); });
    if (!has_wide_array) return;
    known_.clear();
    builder_.set_insertion_before(op);
    builder_.set_location_of(op);
    const Type& pointers = op->result()->type();
    Value* sum = nullptr;
    for (Value* offset : chain->offsets) {
      Value* number = narrowed(offset);
      if (number->type().rank() == 0) number = splat(number, pointers);
      sum = sum ? builder_.create(Opcode::kAdd, {sum, number}) : number;
    }
    Value* base = builder_.create_typed(Opcode::kSplat, {chain->parameter}, pointers);
    op->set_operand(0, base);
    op->set_operand(1, sum);
    changed_ = true;
  }

  Value* splat(Value* scalar, const Type& like) {
    return builder_.create_typed(Opcode::kSplat, {scalar}, scalar->type().with_shape(like.shape()));
  }

  // The number modulo 2^32, from parts that are narrow already where it is made of such. Written
  // anew for each pointer, where all its parts are visible; common parts merge later.
  Value* narrowed(Value* value) {
    if (value->type().dtype() == DType::kInt32) return value;
    Value*& known = known_[value];
    if (!known) known = made_narrow(value);
    return known;
  }

  Value* made_narrow(Value* value) {
    const Operation* op = value->definition();
    if (op && is_wide(value)) {
      switch (op->opcode()) {
        case Opcode::kAdd:
        case Opcode::kSub:
        case Opcode::kMul:
          return builder_.create(op->opcode(),
                                 {narrowed(op->operand(0)), narrowed(op->operand(1))});
        case Opcode::kNeg:
          return builder_.create(Opcode::kNeg, {narrowed(op->operand(0))});
        case Opcode::kCast:
          if (is_integer(op->operand(0)->type().dtype())) return narrowed(op->operand(0));
          break;
        case Opcode::kSplat:
          return splat(narrowed(op->operand(0)), value->type());
        case Opcode::kConstant:
          return builder_.integer(value->type().with_dtype(DType::kInt32),
                                  op->integer(AttributeName::kBits));
        default:
          break;
      }
    }
    return builder_.cast(value, DType::kInt32);
  }

  ir::Function& function_;
  ir::Builder builder_;
  std::map<const Value*, Value*> known_;
  bool changed_ = false;
};

}  // namespace

bool narrow_offsets(ir::Function& function) {
  return function.options().arrays_small && Narrower(function).run();
}

}  // namespace enceladus::transforms
