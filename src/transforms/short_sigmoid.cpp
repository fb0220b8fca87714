#include "transforms/short_sigmoid.h"

#include <vector>

#include "ir/builder.h"

namespace enceladus::transforms {
namespace {

using ir::Opcode;
using ir::Operation;
using ir::Value;

bool is_one(const Value* value) {
  while (value->definition() && value->definition()->is(Opcode::kSplat))
    value = value->definition()->operand(0);
  std::optional<uint64_t> bits = ir::constant_bits(value);
  return bits && *bits == ir::bits_of(DType::kFloat32, 1.0);
}

// The x of 1 / (1 + exp(-x)); null where the quotient is something else.
Value* argument_of_sigmoid(const Operation& quotient) {
  const Operation* sum = quotient.operand(1)->definition();
  if (!is_one(quotient.operand(0)) || !sum || !sum->is(Opcode::kAdd)) return nullptr;
  for (int i = 0; i < 2; ++i) {
    const Operation* power = sum->operand(i)->definition();
    if (!power || !power->is(Opcode::kExp) || !is_one(sum->operand(1 - i))) continue;
    const Operation* negated = power->operand(0)->definition();
    return negated && negated->is(Opcode::kNeg) ? negated->operand(0) : nullptr;
  }
  return nullptr;
}

}  // namespace

bool short_sigmoid(ir::Function& function) {
  if (function.options().math_mode != ir::MathMode::kFast) return false;
  std::vector<Operation*> quotients;
  ir::walk(function.body(), [&](Operation* op) {
    if (op->is(Opcode::kDiv) && op->result()->type().dtype() == DType::kFloat32 &&
        argument_of_sigmoid(*op))
      quotients.push_back(op);
  });
  ir::Builder builder(function);
  for (Operation* op : quotients) {
    builder.set_insertion_before(op);
    builder.set_location_of(op);
    Value* half = builder.floating(op->result()->type(), 0.5);
    Value* inner = builder.create(Opcode::kMul, {argument_of_sigmoid(*op), half});
    Value* turned = builder.create(Opcode::kTanh, {inner});
    op->result()->replace_all_uses_with(builder.create(Opcode::kFma, {turned, half, half}));
  }
  return !quotients.empty();
}

}  // namespace enceladus::transforms
