#include "analysis/axis_rules.h"

#include <algorithm>
#include <bit>

#include "ir/builder.h"
#include "ir/op_rules.h"

namespace enceladus::analysis {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Type;

// Units of the divisibility: an element step of a pointer is that many bytes.
int64_t step_of(const Type& type) { return type.is_pointer() ? byte_size(type.dtype()) : 1; }

// The divisibility of the first elements where the runs are cut to `length`.
int64_t divisibility_at(const AxisFacts& facts, int64_t length, int64_t step) {
  if (length >= facts.contiguity) return facts.divisibility;
  return std::min(facts.divisibility, length * power_of_two_divisor(step));
}

int64_t product(int64_t a, int64_t b) {
  int64_t result;
  bool overflow = __builtin_mul_overflow(a, b, &result);
  return overflow ? kMaxDivisibility : std::min(result, kMaxDivisibility);
}

int axis_count(const Type& type) { return std::max(type.rank(), 1); }

AxisInfo of_number(int64_t value, const Type& type) {
  AxisInfo info;
  for (int axis = 0; axis < axis_count(type); ++axis)
    info.axis(axis) = {.divisibility = power_of_two_divisor(value),
                       .constancy = type.rank() ? type.extent(axis) : 1};
  return info;
}

AxisInfo with_constancy_of(const AxisInfo& a, const AxisInfo& b) {
  AxisInfo info;
  for (size_t axis = 0; axis < info.axes.size(); ++axis)
    info.axes[axis].constancy = std::min(a.axes[axis].constancy, b.axes[axis].constancy);
  return info;
}

// Sums, and differences with `negative`: a run plus equal elements stays a run.
AxisInfo of_sum(const Operation& op, const AxisSource& operands, bool negative) {
  const Type& type = op.result()->type();
  const AxisInfo& a = operands.axis_info(op.operand(0));
  const AxisInfo& b = operands.axis_info(op.operand(1));
  int64_t step = step_of(type);
  AxisInfo info = with_constancy_of(a, b);
  for (int axis = 0; axis < axis_count(type); ++axis) {
    const AxisFacts& x = a.axis(axis);
    const AxisFacts& y = b.axis(axis);
    AxisFacts& result = info.axis(axis);
    result.contiguity = std::min(x.contiguity, y.constancy);
    if (!negative)
      result.contiguity = std::max(result.contiguity, std::min(x.constancy, y.contiguity));
    int64_t offset = product(divisibility_at(y, result.contiguity, 1), power_of_two_divisor(step));
    result.divisibility = std::min(divisibility_at(x, result.contiguity, step), offset);
  }
  return info;
}

AxisInfo of_product(const Operation& op, const AxisSource& operands) {
  const AxisInfo& a = operands.axis_info(op.operand(0));
  const AxisInfo& b = operands.axis_info(op.operand(1));
  if (operands.range(op.operand(1)) == Range::of(1)) return a;
  if (operands.range(op.operand(0)) == Range::of(1)) return b;
  AxisInfo info = with_constancy_of(a, b);
  for (size_t axis = 0; axis < info.axes.size(); ++axis)
    info.axes[axis].divisibility =
        product(divisibility_at(a.axes[axis], 1, 1), divisibility_at(b.axes[axis], 1, 1));
  return info;
}

// By a power of two d: aligned runs of non-negative numbers give runs of d equal quotients, and
// runs of remainders.
AxisInfo of_quotient(const Operation& op, const AxisSource& operands) {
  const AxisInfo& a = operands.axis_info(op.operand(0));
  Range divisor = operands.range(op.operand(1));
  AxisInfo info = with_constancy_of(a, operands.axis_info(op.operand(1)));
  bool simple = divisor.is_single() && divisor.low > 0 &&
                std::has_single_bit(static_cast<uint64_t>(divisor.low)) &&
                operands.range(op.operand(0)).low >= 0;
  if (!simple) return info;
  for (size_t axis = 0; axis < info.axes.size(); ++axis) {
    const AxisFacts& x = a.axes[axis];
    AxisFacts& result = info.axes[axis];
    bool aligned = x.divisibility % divisor.low == 0;
    if (op.is(Opcode::kDiv)) {
      if (aligned && x.contiguity >= divisor.low)
        result.constancy = std::max(result.constancy, divisor.low);
      if (x.contiguity == 1)
        result.divisibility = std::max<int64_t>(1, x.divisibility / divisor.low);
    } else {
      if (aligned) result.contiguity = std::min(x.contiguity, divisor.low);
      result.divisibility =
          std::min(divisibility_at(x, result.contiguity, 1), power_of_two_divisor(divisor.low));
    }
  }
  return info;
}

// a < b where every aligned run of a lies on one side of b, a multiple of the run's length.
AxisInfo of_comparison(const Operation& op, const AxisSource& operands) {
  const AxisInfo& a = operands.axis_info(op.operand(0));
  const AxisInfo& b = operands.axis_info(op.operand(1));
  AxisInfo info = with_constancy_of(a, b);
  bool run_left = op.is(Opcode::kLt) || op.is(Opcode::kGe);
  bool run_right = op.is(Opcode::kGt) || op.is(Opcode::kLe);
  if (!op.operand(0)->type().is_integer() || (!run_left && !run_right)) return info;
  for (size_t axis = 0; axis < info.axes.size(); ++axis) {
    const AxisFacts& run = run_left ? a.axes[axis] : b.axes[axis];
    const AxisFacts& bound = run_left ? b.axes[axis] : a.axes[axis];
    int64_t length =
        std::min({run.contiguity, run.divisibility, bound.constancy, divisibility_at(bound, 1, 1)});
    info.axes[axis].constancy = std::max(info.axes[axis].constancy, length);
  }
  return info;
}

AxisInfo of_select(const Operation& op, const AxisSource& operands) {
  const AxisInfo& condition = operands.axis_info(op.operand(2));
  AxisInfo both = meet(operands.axis_info(op.operand(0)), operands.axis_info(op.operand(1)));
  int64_t step = step_of(op.result()->type());
  for (size_t axis = 0; axis < both.axes.size(); ++axis) {
    AxisFacts& facts = both.axes[axis];
    int64_t same = condition.axes[axis].constancy;
    int64_t length = std::min(facts.contiguity, same);
    facts = {length, divisibility_at(facts, length, step), std::min(facts.constancy, same)};
  }
  return both;
}

AxisInfo of_hint(const Operation& op, const AxisSource& operands) {
  AxisInfo info = operands.axis_info(op.operand(0));
  std::span<const int64_t> values = op.integers(AttributeName::kValues);
  ir::HintKind kind = op.enumerator<ir::HintKind>(AttributeName::kHint);
  for (int axis = 0; axis < axis_count(op.result()->type()); ++axis) {
    if (static_cast<size_t>(axis) >= values.size()) break;
    int64_t value = power_of_two_divisor(values[static_cast<size_t>(axis)]);
    AxisFacts& facts = info.axis(axis);
    switch (kind) {
      case ir::HintKind::kMultipleOf:
        facts.divisibility = std::max(facts.divisibility, value);
        break;
      case ir::HintKind::kMaxContiguous:
        facts.contiguity = std::max(facts.contiguity, value);
        break;
      case ir::HintKind::kMaxConstancy:
        facts.constancy = std::max(facts.constancy, value);
        break;
    }
  }
  return info;
}

AxisInfo of_expand_dims(const Operation& op, const AxisSource& operands) {
  const Type& from = op.operand(0)->type();
  const AxisInfo& source = operands.axis_info(op.operand(0));
  int inserted = static_cast<int>(op.integer(AttributeName::kAxis));
  AxisInfo info;
  for (int axis = 0, old = 0; axis < op.result()->type().rank(); ++axis)
    info.axis(axis) = axis == inserted
                          ? AxisFacts{.divisibility = element_divisibility(source, from)}
                          : source.axis(old++);
  return info;
}

AxisInfo of_broadcast(const Operation& op, const AxisSource& operands) {
  const Type& from = op.operand(0)->type();
  AxisInfo info = operands.axis_info(op.operand(0));
  for (int axis = 0; axis < from.rank(); ++axis)
    if (from.extent(axis) != op.result()->type().extent(axis))
      info.axis(axis).constancy = op.result()->type().extent(axis);
  return info;
}

AxisInfo of_shape(const Operation& op, const AxisSource& operands) {
  const Type& from = op.operand(0)->type();
  const Type& to = op.result()->type();
  const AxisInfo& source = operands.axis_info(op.operand(0));
  AxisInfo info;
  switch (op.opcode()) {
    case Opcode::kSplat:
      for (int axis = 0; axis < to.rank(); ++axis)
        info.axis(axis) = {.divisibility = source.axis(0).divisibility,
                           .constancy = to.extent(axis)};
      return info;
    case Opcode::kBroadcast:
      return of_broadcast(op, operands);
    case Opcode::kExpandDims:
      return of_expand_dims(op, operands);
    case Opcode::kTranspose: {
      std::span<const int64_t> permutation = op.integers(AttributeName::kPermutation);
      for (size_t axis = 0; axis < permutation.size(); ++axis)
        info.axes[axis] = source.axes[static_cast<size_t>(permutation[axis])];
      return info;
    }
    default:  // reshape: elements keep what holds for each alone
      for (int axis = 0; axis < to.rank(); ++axis)
        info.axis(axis).divisibility = element_divisibility(source, from);
      return info;
  }
}

AxisInfo of_cast(const Operation& op, const AxisSource& operands) {
  AxisInfo info = operands.axis_info(op.operand(0));
  const Type& from = op.operand(0)->type();
  const Type& to = op.result()->type();
  bool whole = from.is_integer() && to.is_integer() && !to.is_bool();
  bool fits = whole && Range::of_dtype(to.dtype()).contains(operands.range(op.operand(0))) &&
              !(is_unsigned(to.dtype()) && operands.range(op.operand(0)).low < 0);
  if (fits) return info;
  int64_t modulus =
      whole && bit_width(to.dtype()) < 62 ? int64_t{1} << bit_width(to.dtype()) : kMaxDivisibility;
  for (AxisFacts& facts : info.axes)
    facts = {.divisibility = whole ? std::min(divisibility_at(facts, 1, 1), modulus) : 1,
             .constancy = facts.constancy};
  return info;
}

AxisInfo of_elementwise(const Operation& op, const AxisSource& operands) {
  switch (op.opcode()) {
    case Opcode::kAdd:
      return of_sum(op, operands, false);
    case Opcode::kAddPtr:
      return of_sum(op, operands, false);
    case Opcode::kSub:
      return of_sum(op, operands, true);
    case Opcode::kMul:
      return of_product(op, operands);
    case Opcode::kDiv:
    case Opcode::kRem:
      return of_quotient(op, operands);
    case Opcode::kSelect:
      return of_select(op, operands);
    case Opcode::kHint:
      return of_hint(op, operands);
    case Opcode::kCast:
      return of_cast(op, operands);
    default:
      break;
  }
  if (ir::op_rules(op.opcode()).result == ir::ResultRule::kBoolLike)
    return of_comparison(op, operands);
  AxisInfo info = operands.axis_info(op.operand(0));
  for (const ir::Value* operand : op.operands())
    info = with_constancy_of(info, operands.axis_info(operand));
  Range amount = op.operand_count() == 2 ? operands.range(op.operand(1)) : Range();
  if (op.is(Opcode::kShl) && amount.is_single() && amount.low >= 0 && amount.low < 62)
    for (size_t axis = 0; axis < info.axes.size(); ++axis)
      info.axes[axis].divisibility =
          product(divisibility_at(operands.axis_info(op.operand(0)).axes[axis], 1, 1),
                  int64_t{1} << amount.low);
  return info;
}

}  // namespace

int64_t power_of_two_divisor(int64_t value) {
  if (value == 0) return kMaxDivisibility;
  return std::min(kMaxDivisibility, int64_t{1} << std::countr_zero(static_cast<uint64_t>(value)));
}

AxisInfo meet(const AxisInfo& a, const AxisInfo& b) {
  AxisInfo info;
  for (size_t axis = 0; axis < info.axes.size(); ++axis) {
    const AxisFacts& x = a.axes[axis];
    const AxisFacts& y = b.axes[axis];
    int64_t length = std::min(x.contiguity, y.contiguity);
    info.axes[axis] = {length,
                       std::min(divisibility_at(x, length, 1), divisibility_at(y, length, 1)),
                       std::min(x.constancy, y.constancy)};
  }
  return info;
}

int64_t element_divisibility(const AxisInfo& info, const Type& type) {
  int64_t result = 1;
  for (int axis = 0; axis < axis_count(type); ++axis)
    result = std::max(result, divisibility_at(info.axis(axis), 1, step_of(type)));
  return result;
}

AxisInfo result_axis_info(const Operation& op, const AxisSource& operands) {
  const Type& type = op.result()->type();
  switch (op.record().op_class) {
    case ir::OpClass::kSource: {
      if (op.is(Opcode::kConstant) && type.is_integer())
        return of_number(*ir::constant_integer(op.result()), type);
      if (op.is(Opcode::kConstant)) {
        AxisInfo info = of_number(1, type);
        return info;
      }
      AxisInfo info;
      if (op.is(Opcode::kArange))
        info.axis(0) = {.contiguity = type.elements(),
                        .divisibility = power_of_two_divisor(op.integer(AttributeName::kStart))};
      return info;
    }
    case ir::OpClass::kElementwise:
      return of_elementwise(op, operands);
    case ir::OpClass::kShape:
      return of_shape(op, operands);
    case ir::OpClass::kReduction:
    case ir::OpClass::kMatrix:
    case ir::OpClass::kMemory:
    case ir::OpClass::kControl:
    case ir::OpClass::kDebug:
    case ir::OpClass::kSimt:
      return {};
  }
  return {};
}

}  // namespace enceladus::analysis
