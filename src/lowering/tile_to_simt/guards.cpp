// Masks that most turns of a loop need not look at: where the least and the greatest elements of
// what a mask compares decide it for the whole tile, a branch goes around the selection, and with
// it around the arithmetic of the mask.
//
//   scores = select(scores, -inf, columns < S & columns <= rows)
//     =>  if (start_n + 127 < S && start_n + 127 <= start_m) scores else select(...)
#include <limits>

#include "ir/builder.h"
#include "lowering/tile_to_simt/lowering.h"

namespace enceladus::simt {

using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

namespace {

constexpr int64_t kFewestRegisters = 16;  // of a tile worth a branch

bool moves_elements(const Operation& op) { return op.record().op_class == ir::OpClass::kShape; }

}  // namespace

bool Lowering::guarded_select(const Operation& op) {
  if (!op.is(Opcode::kSelect) || !op.parent_operation()) return false;
  const LinearLayout* home = assignment_.home(op.result());
  if (!home || register_count(*home) < kFewestRegisters || !ir::constant_bits(op.operand(1)))
    return false;
  Value* all = always(op.operand(2));
  if (!all) return false;
  Values operands;
  for (const Value* operand : op.operands()) operands.push_back(pull(operand, *home));
  builder_.set_location_of(&op);
  Type type = operands.front()->type();
  Operation* branch = builder_.if_else(all, std::span(&type, 1));
  for (int part = 0; part < 2; ++part) {
    scopes_.push_back({nullptr, branch->region(part)});
    place_at(scopes_.size() - 1);
    builder_.yield({part == 0 ? operands.front() : apply(op, operands)});
    scopes_.pop_back();
    place_at(scopes_.size() - 1);
  }
  set_tile(op.result(), branch->result());
  return true;
}

// Whether every element of the mask is true, as a scalar that may be false too often; null where
// that cannot be told.
Value* Lowering::always(const Value* mask) {
  const Operation* op = mask->definition();
  if (!op) return nullptr;
  if (moves_elements(*op) && op->operand(0)->type().is_tile()) return always(op->operand(0));
  if (op->is(Opcode::kAnd)) {
    Value* left = always(op->operand(0));
    Value* right = left ? always(op->operand(1)) : nullptr;
    return right ? builder_.create(Opcode::kAnd, {left, right}) : nullptr;
  }
  bool below = op->is(Opcode::kLt) || op->is(Opcode::kLe);
  if (!below && !op->is(Opcode::kGt) && !op->is(Opcode::kGe)) return nullptr;
  if (!op->operand(0)->type().is_integer()) return nullptr;
  std::optional<Extremes> left = extremes(op->operand(0)), right = extremes(op->operand(1));
  if (!left || !right) return nullptr;
  Value* decided = below ? builder_.create(op->opcode(), {left->high, right->low})
                         : builder_.create(op->opcode(), {left->low, right->high});
  for (Value* exact : {left->exact, right->exact})
    if (exact) decided = builder_.create(Opcode::kAnd, {decided, exact});
  return decided;
}

// The least and the greatest element, as int64, of sums of ranges and scalars.
std::optional<Lowering::Extremes> Lowering::extremes(const Value* value) {
  Type i64 = Type::number(DType::kInt64);
  if (value->type().rank() == 0) {
    Value* number = builder_.cast(scalar(value), DType::kInt64);
    return Extremes{number, number, nullptr};
  }
  const Operation* op = value->definition();
  if (!op) return std::nullopt;
  if (moves_elements(*op) || op->is(Opcode::kHint)) return extremes(op->operand(0));
  if (std::optional<int64_t> number = ir::constant_integer(value)) {
    Value* constant = builder_.integer(i64, *number);
    return Extremes{constant, constant, nullptr};
  }
  if (op->is(Opcode::kArange)) {
    int64_t start = op->integer(ir::AttributeName::kStart);
    return Extremes{builder_.integer(i64, start),
                    builder_.integer(i64, start + value->type().extent(0) - 1), nullptr};
  }
  if (!op->is(Opcode::kAdd) || value->type().dtype() != DType::kInt32) return std::nullopt;
  std::optional<Extremes> a = extremes(op->operand(0)), b = extremes(op->operand(1));
  if (!a || !b) return std::nullopt;
  Extremes sum{builder_.create(Opcode::kAdd, {a->low, b->low}),
               builder_.create(Opcode::kAdd, {a->high, b->high}), nullptr};
  Value* most = builder_.integer(i64, std::numeric_limits<int32_t>::max());
  Value* least = builder_.integer(i64, std::numeric_limits<int32_t>::min());
  sum.exact = builder_.create(Opcode::kAnd, {builder_.create(Opcode::kLe, {sum.high, most}),
                                             builder_.create(Opcode::kGe, {sum.low, least})});
  for (Value* exact : {a->exact, b->exact})
    if (exact) sum.exact = builder_.create(Opcode::kAnd, {sum.exact, exact});
  return sum;
}

}  // namespace enceladus::simt
