#include "ir/builder.h"

#include "support/check.h"

namespace enceladus::ir {
namespace {

Type result_type(const OpRecord& record, std::span<Value* const> operands) {
  if (record.result == "none") return {};
  const Type& first = operands.front()->type();
  if (record.result == "same") return first;
  if (record.result == "bool_like") return first.with_dtype(DType::kInt1);
  if (record.result == "pointee") return first.with_dtype(first.dtype());
  ENC_CHECK(false, "the result type of " + std::string(record.name) + " must be given");
  return {};
}

std::vector<Type> types_of(std::span<Value* const> values) {
  std::vector<Type> types;
  for (Value* value : values) types.push_back(value->type());
  return types;
}

}  // namespace

Operation* Builder::create(Opcode opcode, std::span<Value* const> operands,
                           std::span<const Type> results, std::vector<Attribute> attributes,
                           int regions) {
  return function_->create({.opcode = opcode,
                            .location = location_,
                            .call_site = call_site_,
                            .operands = operands,
                            .results = results,
                            .attributes = std::move(attributes),
                            .regions = regions},
                           region_, before_);
}

Value* Builder::create(Opcode opcode, std::initializer_list<Value*> operands,
                       std::vector<Attribute> attributes) {
  std::span<Value* const> span(operands.begin(), operands.size());
  Type type = result_type(info(opcode), span);
  std::span<const Type> results(&type, type.is_none() ? 0 : 1);
  Operation* op = create(opcode, span, results, std::move(attributes));
  return type.is_none() ? nullptr : op->result();
}

Value* Builder::create_typed(Opcode opcode, std::initializer_list<Value*> operands,
                             const Type& type, std::vector<Attribute> attributes) {
  std::span<Value* const> span(operands.begin(), operands.size());
  return create(opcode, span, std::span(&type, 1), std::move(attributes))->result();
}

Value* Builder::constant_bits(const Type& type, uint64_t bits) {
  return create_typed(Opcode::kConstant, {}, type,
                      {{AttributeName::kBits, static_cast<int64_t>(bits)}});
}

Value* Builder::integer(const Type& type, int64_t value) {
  return constant_bits(type, bits_of_integer(type.dtype(), value));
}

Value* Builder::floating(const Type& type, double value) {
  return constant_bits(type, bits_of(type.dtype(), value));
}

Value* Builder::cast(Value* value, DType dtype, Rounding rounding) {
  if (value->type().dtype() == dtype) return value;
  std::vector<Attribute> attributes;
  if (rounding != Rounding::kNearestEven)
    attributes.push_back({AttributeName::kRounding, static_cast<int64_t>(rounding)});
  return create_typed(Opcode::kCast, {value}, value->type().with_dtype(dtype),
                      std::move(attributes));
}

Value* Builder::broadcast_to(Value* value, std::span<const int64_t> shape) {
  Type target = value->type().with_shape(shape);
  if (value->type() == target) return value;
  if (value->type().rank() == 0) return create_typed(Opcode::kSplat, {value}, target);
  while (value->type().rank() < target.rank()) {
    std::vector<int64_t> expanded(value->type().shape().begin(), value->type().shape().end());
    expanded.insert(expanded.begin(), 1);
    value = create_typed(Opcode::kExpandDims, {value}, value->type().with_shape(expanded),
                         {{AttributeName::kAxis, int64_t{0}}});
  }
  if (value->type() == target) return value;
  return create_typed(Opcode::kBroadcast, {value}, target);
}

Operation* Builder::for_loop(Value* lower, Value* upper, Value* step,
                             std::span<Value* const> initial) {
  std::vector<Value*> operands = {lower, upper, step};
  operands.insert(operands.end(), initial.begin(), initial.end());
  Operation* op = create(Opcode::kFor, operands, types_of(initial), {}, 1);
  op->region(0)->append_argument(lower->type());
  for (Value* value : initial) op->region(0)->append_argument(value->type(), value->name());
  return op;
}

Operation* Builder::while_loop(std::span<Value* const> initial) {
  Operation* op = create(Opcode::kWhile, initial, types_of(initial), {}, 2);
  for (Region* region : op->regions())
    for (Value* value : initial) region->append_argument(value->type(), value->name());
  return op;
}

Operation* Builder::if_else(Value* condition, std::span<const Type> results) {
  return create(Opcode::kIf, std::span(&condition, 1), results, {}, 2);
}

void Builder::yield(std::span<Value* const> values) { create(Opcode::kYield, values, {}); }

std::optional<uint64_t> constant_bits(const Value* value) {
  if (!value || !value->definition() || !value->definition()->is(Opcode::kConstant))
    return std::nullopt;
  return static_cast<uint64_t>(value->definition()->integer(AttributeName::kBits));
}

std::optional<int64_t> constant_integer(const Value* value) {
  std::optional<uint64_t> bits = constant_bits(value);
  if (!bits || !value->type().is_integer()) return std::nullopt;
  return integer_of_bits(value->type().dtype(), *bits);
}

}  // namespace enceladus::ir
