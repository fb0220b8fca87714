// Rules of fold.h for operations that move elements.
#include "transforms/simplify.h"

namespace enceladus::transforms {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

}  // namespace

Value* Simplifier::shape(Operation* op) {
  Value* a = op->operand(0);
  const Type& type = op->result()->type();
  if (std::optional<uint64_t> bits = ir::constant_bits(a))
    return builder_.constant_bits(type, *bits);
  if (a->type() == type && !op->is(Opcode::kTranspose)) return a;
  Operation* inner = a->definition();
  if (inner && inner->is(Opcode::kSplat) && !op->is(Opcode::kSplat))
    return make_typed(Opcode::kSplat, {inner->operand(0)}, type);
  switch (op->opcode()) {
    case Opcode::kBroadcast:
      if (inner && inner->is(Opcode::kBroadcast))
        return make_typed(Opcode::kBroadcast, {inner->operand(0)}, type);
      return nullptr;
    case Opcode::kReshape:
      if (inner && (inner->is(Opcode::kReshape) || inner->is(Opcode::kExpandDims)))
        return make_typed(Opcode::kReshape, {inner->operand(0)}, type);
      return nullptr;
    case Opcode::kTranspose:
      return transpose(op);
    default:
      return nullptr;
  }
}

Value* Simplifier::transpose(Operation* op) {
  std::span<const int64_t> permutation = op->integers(AttributeName::kPermutation);
  bool identity = true;
  for (size_t axis = 0; axis < permutation.size(); ++axis)
    identity &= permutation[axis] == static_cast<int64_t>(axis);
  if (identity) return op->operand(0);
  Operation* inner = op->operand(0)->definition();
  if (!inner || !inner->is(Opcode::kTranspose)) return nullptr;
  std::span<const int64_t> first = inner->integers(AttributeName::kPermutation);
  std::vector<int64_t> both;
  for (int64_t axis : permutation) both.push_back(first[static_cast<size_t>(axis)]);
  return make_typed(Opcode::kTranspose, {inner->operand(0)}, op->result()->type(),
                    {{AttributeName::kPermutation, std::move(both)}});
}

}  // namespace enceladus::transforms
