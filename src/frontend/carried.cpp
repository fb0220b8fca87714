// Values across run-time control flow (declared in frontend/statements.h).
#include "frontend/literals.h"
#include "frontend/statements.h"

namespace enceladus::frontend {

Value as_carried(Context& context, const Value& value) {
  if (value.is_constant() && literal_of(context, value.object))
    return Value::runtime(materialize(context, value));
  std::optional<std::vector<Value>> elements = elements_of(value);
  if (!elements) return value;
  for (Value& element : *elements) element = as_carried(context, element);
  return Value::tuple(std::move(*elements));
}

void flatten(const Value& value, std::vector<ir::Value*>& leaves) {
  if (value.is_runtime()) leaves.push_back(value.ssa);
  if (!value.is_tuple()) return;
  for (const Value& element : value.elements()) flatten(element, leaves);
}

Value rebuild(const Value& like, std::span<ir::Value* const> leaves, size_t& next) {
  if (like.is_runtime()) return Value::runtime(leaves[next++]);
  if (!like.is_tuple()) return like;
  std::vector<Value> elements;
  for (const Value& element : like.elements()) elements.push_back(rebuild(element, leaves, next));
  return Value::tuple(std::move(elements));
}

namespace {

// A literal takes a type of its own kind only: `1.5` does not become an int32 variable.
std::optional<Value> conformed_literal(Context& context, const Literal& literal, const Value& value,
                                       const ir::Type& type) {
  if (!type.is_number() || type.rank() != 0) return std::nullopt;
  bool same_kind = literal.kind == Literal::Kind::kFloat ? type.is_float()
                   : literal.kind == Literal::Kind::kBool
                       ? type.is_bool()
                       : type.is_integer() && !type.is_bool() && fits(literal, type.dtype());
  if (!same_kind) return std::nullopt;
  return Value::runtime(materialize_as(context, value, type.dtype()));
}

}  // namespace

std::optional<Value> conformed(Context& context, const Value& value, const Value& like) {
  if (like.is_runtime()) {
    if (value.is_runtime())
      return value.type() == like.type() ? std::optional(value) : std::nullopt;
    if (!value.is_constant()) return std::nullopt;
    std::optional<Literal> literal = literal_of(context, value.object);
    return literal ? conformed_literal(context, *literal, value, like.type()) : std::nullopt;
  }
  if (!like.is_tuple()) return is_same(value, like) ? std::optional(value) : std::nullopt;
  std::optional<std::vector<Value>> elements = elements_of(value);
  if (!elements || elements->size() != like.elements().size()) return std::nullopt;
  for (size_t i = 0; i < elements->size(); ++i) {
    std::optional<Value> element = conformed(context, (*elements)[i], like.elements()[i]);
    if (!element) return std::nullopt;
    (*elements)[i] = *element;
  }
  return Value::tuple(std::move(*elements));
}

std::optional<Value> placeholder(Context& context, const Value& like) {
  if (like.is_runtime()) {
    const ir::Type& type = like.type();
    if (type.is_number()) return Value::runtime(context.builder.integer(type, 0));
    ir::Value* zero = context.builder.integer(ir::Type::number(DType::kInt64, type.shape()), 0);
    return Value::runtime(context.builder.create_typed(ir::Opcode::kBitcast, {zero}, type));
  }
  if (like.is_constant()) return like;
  if (!like.is_tuple()) return std::nullopt;
  std::vector<Value> elements;
  for (const Value& element : like.elements()) {
    std::optional<Value> filled = placeholder(context, element);
    if (!filled) return std::nullopt;
    elements.push_back(*filled);
  }
  return Value::tuple(std::move(elements));
}

}  // namespace enceladus::frontend
