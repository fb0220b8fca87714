// Rules of fold.h for elementwise operations.
#include <limits>

#include "ir/op_rules.h"
#include "transforms/simplify.h"

namespace enceladus::transforms {
namespace {

using ir::constant_bits;
using ir::constant_integer;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

bool is_commutative(Opcode opcode) {
  return opcode == Opcode::kAdd || opcode == Opcode::kMul || opcode == Opcode::kAnd ||
         opcode == Opcode::kOr || opcode == Opcode::kXor || opcode == Opcode::kMin ||
         opcode == Opcode::kMax || opcode == Opcode::kEq || opcode == Opcode::kNe ||
         opcode == Opcode::kUMulHi;
}

// A comparison with its sides exchanged; the opcode itself where that changes nothing.
std::optional<Opcode> mirrored(Opcode opcode) {
  switch (opcode) {
    case Opcode::kLt:
      return Opcode::kGt;
    case Opcode::kGt:
      return Opcode::kLt;
    case Opcode::kLe:
      return Opcode::kGe;
    case Opcode::kGe:
      return Opcode::kLe;
    default:
      return std::nullopt;
  }
}

std::optional<Opcode> negated(Opcode opcode) {
  switch (opcode) {
    case Opcode::kEq:
      return Opcode::kNe;
    case Opcode::kNe:
      return Opcode::kEq;
    case Opcode::kLt:
      return Opcode::kGe;
    case Opcode::kGe:
      return Opcode::kLt;
    case Opcode::kGt:
      return Opcode::kLe;
    case Opcode::kLe:
      return Opcode::kGt;
    default:
      return std::nullopt;
  }
}

// 0 general, 1 the same for all elements, 2 constant: what stands second.
int rank_of(const Value* value) {
  if (constant_bits(value)) return 2;
  return value->type().rank() > 0 && is_uniform(value) ? 1 : 0;
}

bool is_defined_by(const Value* value, Opcode opcode) {
  return value->definition() && value->definition()->is(opcode);
}

uint64_t all_ones(DType dtype) { return ir::bits_of_integer(dtype, -1); }

// Whether every value of `from` is a value of `to`.
bool converts_exactly(DType from, DType to) {
  auto digits = [](DType dtype) {
    switch (dtype) {
      case DType::kFloat8E4M3:
        return 4;
      case DType::kFloat8E5M2:
        return 3;
      case DType::kFloat16:
        return 11;
      case DType::kBFloat16:
        return 8;
      case DType::kFloat32:
        return 24;
      case DType::kFloat64:
        return 53;
      default:
        return bit_width(dtype) - (is_signed(dtype) ? 1 : 0);
    }
  };
  if (from == to) return true;
  if (is_bool(to)) return false;
  if (is_float(from)) {
    if (!is_float(to) || bit_width(to) <= bit_width(from)) return false;
    return digits(to) >= digits(from);
  }
  if (is_float(to)) return digits(to) >= digits(from);
  if (is_signed(from) && !is_signed(to)) return false;
  return digits(to) >= digits(from);
}

}  // namespace

void Simplifier::constant_last(Operation* op) {
  if (op->operand_count() != 2 || rank_of(op->operand(0)) <= rank_of(op->operand(1))) return;
  if (!is_commutative(op->opcode())) return;
  Value* first = op->operand(0);
  op->set_operand(0, op->operand(1));
  op->set_operand(1, first);
  changed_ = true;
}

Value* Simplifier::elementwise(Operation* op) {
  switch (op->opcode()) {
    case Opcode::kSelect:
      return select(op);
    case Opcode::kCast:
    case Opcode::kBitcast:
      return conversion(op);
    case Opcode::kAddPtr:
      return pointer_sum(op);
    default:
      break;
  }
  if (op->operand_count() == 1) return unary(op);
  if (op->operand_count() != 2) return nullptr;
  if (ir::op_rules(op->opcode()).result == ir::ResultRule::kBoolLike) return comparison(op);
  if (op->result()->type().is_float()) return float_binary(op);
  if (Value* value = integer_binary(op)) return value;
  return reassociated(op);
}

// What is uniform in an offset goes to the scalar base: (splat p + x) + splat a is
// splat(p + a) + x.
Value* Simplifier::pointer_sum(Operation* op) {
  Value* offset = op->operand(1);
  if (constant_bits(offset) == uint64_t{0}) return op->operand(0);
  Operation* inner = op->operand(0)->definition();
  if (op->result()->type().rank() == 0 || !is_uniform(offset)) return nullptr;
  if (!inner || !inner->is(Opcode::kAddPtr) || !is_uniform(inner->operand(0))) return nullptr;
  return make(Opcode::kAddPtr,
              {make(Opcode::kAddPtr, {inner->operand(0), offset}), inner->operand(1)});
}

Value* Simplifier::unary(Operation* op) {
  Operation* inner = op->operand(0)->definition();
  if (!inner) return nullptr;
  bool undoes = (op->is(Opcode::kNeg) || op->is(Opcode::kNot)) && inner->is(op->opcode());
  if (undoes) return inner->operand(0);
  if (op->is(Opcode::kAbs) && inner->is(Opcode::kAbs)) return op->operand(0);
  if (!op->is(Opcode::kNot) || !op->result()->type().is_bool()) return nullptr;
  std::optional<Opcode> opposite = negated(inner->opcode());
  // NaN makes `not (a < b)` another thing than `a >= b`.
  if (!opposite || inner->operand(0)->type().is_float()) {
    bool equality = inner->is(Opcode::kEq) || inner->is(Opcode::kNe);
    if (!opposite || !equality) return nullptr;
  }
  return make(*opposite, {inner->operand(0), inner->operand(1)});
}

Value* Simplifier::integer_binary(Operation* op) {
  Value* a = op->operand(0);
  Value* b = op->operand(1);
  const Type& type = op->result()->type();
  std::optional<uint64_t> bits = constant_bits(b);
  bool zero = bits == uint64_t{0};
  bool one = bits == uint64_t{1};
  bool ones = bits && *bits == all_ones(type.dtype());
  auto zeros = [&] { return builder_.constant_bits(type, 0); };
  switch (op->opcode()) {
    case Opcode::kAdd:
      return zero ? a : nullptr;
    case Opcode::kSub:
      if (zero) return a;
      if (a == b) return zeros();
      if (constant_bits(a) == uint64_t{0}) return make(Opcode::kNeg, {b});
      if (bits) {
        Value* minus = builder_.constant_bits(
            type, ir::bits_of_integer(type.dtype(), static_cast<int64_t>(0 - *bits)));
        return make(Opcode::kAdd, {a, minus});
      }
      return nullptr;
    case Opcode::kMul:
      return zero ? b : one ? a : nullptr;
    case Opcode::kDiv:
      return one ? a : nullptr;
    case Opcode::kRem:
      return one ? zeros() : nullptr;
    case Opcode::kAnd:
      return zero ? b : ones || a == b ? a : nullptr;
    case Opcode::kOr:
      return zero || a == b ? a : ones ? b : nullptr;
    case Opcode::kXor:
      if (type.is_bool() && ones) return make(Opcode::kNot, {a});
      return zero ? a : a == b ? zeros() : nullptr;
    case Opcode::kMin:
    case Opcode::kMax:
      return a == b ? a : nullptr;
    case Opcode::kShl:
    case Opcode::kShr:
      return zero ? a : nullptr;
    default:
      return nullptr;
  }
}

// (x op c) op d is x op (c op d) where c and d are the same for all elements; wrapping integers
// allow that. Sums also bring the uniform part of their first operand to the end.
Value* Simplifier::reassociated(Operation* op) {
  bool associative = op->is(Opcode::kAdd) || op->is(Opcode::kMul) || op->is(Opcode::kAnd) ||
                     op->is(Opcode::kOr) || op->is(Opcode::kXor);
  if (!associative || !op->result()->type().is_integer()) return nullptr;
  auto inner_of = [&](Value* value) -> Operation* {
    return is_defined_by(value, op->opcode()) && rank_of(value->definition()->operand(1)) > 0
               ? value->definition()
               : nullptr;
  };
  Value* b = op->operand(1);
  if (Operation* inner = inner_of(op->operand(0))) {
    Value* uniform = inner->operand(1);
    if (rank_of(b) > 0)
      return make(op->opcode(), {inner->operand(0), make(op->opcode(), {uniform, b})});
    // Scalars: constants move outward; tiles: what is uniform does.
    if (inner->result()->users().size() > 1) return nullptr;
    return make(op->opcode(), {make(op->opcode(), {inner->operand(0), b}), uniform});
  }
  if (Operation* inner = inner_of(b); inner && inner->result()->users().size() == 1)
    return make(op->opcode(),
                {make(op->opcode(), {op->operand(0), inner->operand(0)}), inner->operand(1)});
  return nullptr;
}

Value* Simplifier::float_binary(Operation* op) {
  Value* a = op->operand(0);
  std::optional<uint64_t> bits = constant_bits(op->operand(1));
  DType dtype = op->result()->type().dtype();
  bool minus_zero = bits == ir::bits_of(dtype, -0.0);
  bool one = bits == ir::bits_of(dtype, 1.0);
  switch (op->opcode()) {
    case Opcode::kAdd:
      return minus_zero ? a : nullptr;
    case Opcode::kSub:
      return bits == uint64_t{0} ? a : nullptr;
    case Opcode::kMul:
    case Opcode::kDiv:
    case Opcode::kDivRn:
      return one ? a : nullptr;
    case Opcode::kMin:
    case Opcode::kMax:
      return a == op->operand(1) ? a : nullptr;
    default:
      return nullptr;
  }
}

Value* Simplifier::comparison(Operation* op) {
  Value* a = op->operand(0);
  Value* b = op->operand(1);
  if (a == b && !a->type().is_float()) {
    bool holds = op->is(Opcode::kEq) || op->is(Opcode::kLe) || op->is(Opcode::kGe);
    return builder_.constant_bits(op->result()->type(), holds ? 1 : 0);
  }
  if (rank_of(a) > rank_of(b))
    if (std::optional<Opcode> other = mirrored(op->opcode())) return make(*other, {b, a});
  if (a->type().is_bool() && constant_bits(b)) {
    bool keeps = op->is(Opcode::kNe) == (*constant_bits(b) == 0);
    bool equality = op->is(Opcode::kEq) || op->is(Opcode::kNe);
    if (equality) return keeps ? a : make(Opcode::kNot, {a});
  }
  return nullptr;
}

Value* Simplifier::select(Operation* op) {
  Value* if_true = op->operand(0);
  Value* if_false = op->operand(1);
  Value* condition = op->operand(2);
  if (if_true == if_false) return if_true;
  if (std::optional<uint64_t> bits = constant_bits(condition)) return *bits ? if_true : if_false;
  if (is_defined_by(condition, Opcode::kNot))
    return make(Opcode::kSelect, {if_false, if_true, condition->definition()->operand(0)});
  if (op->result()->type().is_bool()) {
    if (constant_bits(if_true) == uint64_t{1} && constant_bits(if_false) == uint64_t{0})
      return condition;
    if (constant_bits(if_true) == uint64_t{0} && constant_bits(if_false) == uint64_t{1})
      return make(Opcode::kNot, {condition});
  }
  return nullptr;
}

Value* Simplifier::conversion(Operation* op) {
  Value* a = op->operand(0);
  const Type& type = op->result()->type();
  if (a->type() == type) return a;
  Operation* inner = a->definition();
  if (!inner || !inner->is(op->opcode())) return nullptr;
  Value* source = inner->operand(0);
  if (op->is(Opcode::kBitcast)) return make_typed(Opcode::kBitcast, {source}, type);
  DType from = source->type().dtype();
  if (!converts_exactly(from, a->type().dtype())) return nullptr;
  // A float saturates where an integer wraps.
  bool through_float = is_integer(from) && a->type().is_float() && type.is_integer();
  if (through_float && !type.is_bool() && !converts_exactly(from, type.dtype())) return nullptr;
  // On its way back an infinity becomes the largest finite value.
  if (from == DType::kFloat8E5M2 && source->type() == type) return nullptr;
  if (source->type() == type) return source;
  std::vector<ir::Attribute> attributes(op->attributes().begin(), op->attributes().end());
  return make_typed(Opcode::kCast, {source}, type, std::move(attributes));
}

}  // namespace enceladus::transforms
