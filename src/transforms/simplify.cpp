#include "transforms/simplify.h"

#include <algorithm>

#include "ir/evaluate.h"

namespace enceladus::transforms {

using ir::AttributeName;
using ir::OpClass;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

Value* uniform_scalar(Value* value) {
  if (value->type().rank() == 0) return value;
  Operation* op = value->definition();
  return op && op->is(Opcode::kSplat) ? op->operand(0) : nullptr;
}

bool is_uniform(const Value* value) {
  const Operation* op = value->definition();
  return op && (op->is(Opcode::kSplat) || op->is(Opcode::kConstant));
}

Value* Simplifier::simplified(Operation* op) {
  if (op->result_count() != 1 || !op->regions().empty()) return nullptr;
  OpClass op_class = op->record().op_class;
  if (op_class != OpClass::kElementwise && op_class != OpClass::kShape) return nullptr;
  builder_.set_insertion_before(op);
  builder_.set_location_of(op);
  if (op_class == OpClass::kShape) return shape(op);
  constant_last(op);
  if (Value* value = evaluated(op)) return value;
  if (Value* value = elementwise(op)) return value;
  return hoisted_to_scalar(op);
}

// All operands are constants. A hint stays for the analyses.
Value* Simplifier::evaluated(Operation* op) {
  if (op->operand(0)->type().is_pointer() || op->result()->type().is_pointer()) return nullptr;
  std::array<uint64_t, 3> bits{};
  size_t count = op->operands().size();
  for (size_t i = 0; i < count; ++i) {
    std::optional<uint64_t> constant = ir::constant_bits(op->operands()[i]);
    if (!constant) return nullptr;
    bits[i] = *constant;
  }
  std::optional<uint64_t> result =
      ir::evaluate(ir::scalar_operation(*op), std::span(bits.data(), count));
  return result ? builder_.constant_bits(op->result()->type(), *result) : nullptr;
}

// op(splat a, splat b) is splat(op(a, b)); constant tiles join as scalars.
Value* Simplifier::hoisted_to_scalar(Operation* op) {
  const Type& type = op->result()->type();
  if (type.rank() == 0) return nullptr;
  bool splat = false;
  for (const Value* operand : op->operands()) {
    if (!is_uniform(operand)) return nullptr;
    splat |= operand->definition()->is(Opcode::kSplat);
  }
  if (!splat) return nullptr;
  std::vector<Value*> scalars;
  for (Value* operand : op->operands()) {
    Value* scalar = uniform_scalar(operand);
    scalars.push_back(
        scalar ? scalar
               : builder_.constant_bits(operand->type().element(), *ir::constant_bits(operand)));
  }
  Type element = type.element();
  std::vector<ir::Attribute> attributes(op->attributes().begin(), op->attributes().end());
  if (op->is(Opcode::kHint) && op->integers(AttributeName::kValues).size() > 1) return nullptr;
  Operation* scalar =
      builder_.create(op->opcode(), scalars, std::span(&element, 1), std::move(attributes));
  scalar->result()->set_name(op->result()->name());
  Value* value = refolded(scalar->result());
  return make_typed(Opcode::kSplat, {value}, type);
}

Value* Simplifier::make(Opcode opcode, std::initializer_list<Value*> operands) {
  return refolded(builder_.create(opcode, operands));
}

Value* Simplifier::make_typed(Opcode opcode, std::initializer_list<Value*> operands,
                              const Type& type, std::vector<ir::Attribute> attributes) {
  return refolded(builder_.create_typed(opcode, operands, type, std::move(attributes)));
}

// A new operation is simplified at once; the insertion point stays behind it.
Value* Simplifier::refolded(Value* value) {
  Operation* op = value->definition();
  Operation* next = op->next();
  Value* better = simplified(op);
  if (better) op->erase();
  builder_.set_insertion_before(next);
  return better ? better : value;
}

}  // namespace enceladus::transforms
