#include "transforms/share_reciprocals.h"

#include <cmath>
#include <map>
#include <vector>

#include "ir/builder.h"

namespace enceladus::transforms {
namespace {

using ir::Opcode;
using ir::Operation;
using ir::Value;

// Of a quotient's registers for each of its divisor's: below that nothing is gained.
constexpr int64_t kLeastSharing = 4;

// PTX's `div.full`: between these a divisor and its reciprocal are both normal numbers.
const double kGreat = std::ldexp(1.0, 126);
const double kSmall = std::ldexp(1.0, -126);
const double kShrinks = 0.25;
const double kGrows = std::ldexp(1.0, 24);

// What a value's registers are copies of; the value itself where they are none.
Value* source_of(Value* value) {
  const Operation* op = value->definition();
  bool copies = op && (op->is(Opcode::kSplat) || op->is(Opcode::kRegisters));
  return copies ? op->operand(0) : value;
}

bool is_shared(const Operation& quotient) {
  if (!quotient.is(Opcode::kDiv) || quotient.result()->type().dtype() != DType::kFloat32)
    return false;
  const Value* source = source_of(quotient.operand(1));
  bool has_place = source->definition() && !ir::constant_bits(source);
  return has_place &&
         quotient.result()->type().elements() >= kLeastSharing * source->type().elements();
}

class Sharer {
 public:
  explicit Sharer(ir::Function& function) : builder_(function) {}

  void quotient(Operation* op) {
    Value* divisor = op->operand(1);
    const Parts& parts = parts_of(source_of(divisor));
    builder_.set_insertion_before(op);
    builder_.set_location_of(op);
    Value* scaled = multiply(op->operand(0), copied(parts.scale, divisor));
    op->result()->replace_all_uses_with(multiply(scaled, copied(parts.reciprocal, divisor)));
  }

 private:
  struct Parts {
    Value *scale, *reciprocal;
  };

  const Parts& parts_of(Value* source) {
    auto [found, is_new] = parts_.try_emplace(source);
    if (is_new) {
      builder_.set_insertion_after(source->definition());
      builder_.set_location_of(source->definition());
      found->second = made(source);
    }
    return found->second;
  }

  Parts made(Value* source) {
    auto number = [&](double value) { return builder_.floating(source->type(), value); };
    Value* size = builder_.create(Opcode::kAbs, {source});
    Value* is_great = builder_.create(Opcode::kGt, {size, number(kGreat)});
    Value* is_small = builder_.create(Opcode::kLt, {size, number(kSmall)});
    Value* grown = builder_.create(Opcode::kSelect, {number(kGrows), number(1), is_small});
    Value* scale = builder_.create(Opcode::kSelect, {number(kShrinks), grown, is_great});
    Value* reciprocal = builder_.create(Opcode::kDiv, {number(1), multiply(source, scale)});
    return {scale, reciprocal};
  }

  Value* multiply(Value* a, Value* b) { return builder_.create(Opcode::kMul, {a, b}); }

  // The part's registers as the divisor has its source's.
  Value* copied(Value* part, const Value* divisor) {
    const Operation* op = divisor->definition();
    return builder_.create_typed(op->opcode(), {part}, divisor->type(),
                                 {op->attributes().begin(), op->attributes().end()});
  }

  ir::Builder builder_;
  std::map<Value*, Parts> parts_;
};

}  // namespace

bool share_reciprocals(ir::Function& function) {
  if (function.options().math_mode == ir::MathMode::kPrecise) return false;
  std::vector<Operation*> quotients;
  ir::walk(function.body(), [&](Operation* op) {
    if (is_shared(*op)) quotients.push_back(op);
  });
  Sharer sharer(function);
  for (Operation* op : quotients) {
    sharer.quotient(op);
    op->erase();
  }
  return !quotients.empty();
}

}  // namespace enceladus::transforms
