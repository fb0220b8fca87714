#include "analysis/range_rules.h"

#include <algorithm>
#include <bit>

#include "ir/builder.h"
#include "ir/op_rules.h"

namespace enceladus::analysis {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;

constexpr int64_t kMaxPrograms = (int64_t{1} << 31) - 1;

// Whether the range says nothing certain: a uint64 that may lie above 2^63.
bool unknown(const Range& range, DType dtype) { return dtype == DType::kUInt64 && range.low < 0; }

Range bitwise_and(const Range& a, const Range& b) {
  if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
  if (a.low >= 0) return {0, a.high};
  if (b.low >= 0) return {0, b.high};
  return Range::all();
}

Range bitwise_or(const Range& a, const Range& b) {
  if (a.low < 0 || b.low < 0) return Range::all();
  uint64_t high = static_cast<uint64_t>(std::max(a.high, b.high));
  int width = std::bit_width(high);
  return {0, width >= 63 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << width) - 1};
}

Range of_bool(std::optional<bool> decided) {
  return decided ? Range::of(*decided ? 1 : 0) : Range{0, 1};
}

std::optional<bool> is_less(const Range& a, const Range& b) {
  if (a.high < b.low) return true;
  if (a.low >= b.high) return false;
  return std::nullopt;
}

std::optional<bool> negated(std::optional<bool> value) {
  return value ? std::optional(!*value) : std::nullopt;
}

std::optional<bool> is_equal(const Range& a, const Range& b) {
  if (a.is_single() && a == b) return true;
  if (a.high < b.low || b.high < a.low) return false;
  return std::nullopt;
}

Range comparison(const Operation& op, const RangeSource& operands) {
  const ir::Type& type = op.operand(0)->type();
  Range a = operands.range(op.operand(0));
  Range b = operands.range(op.operand(1));
  if (!type.is_integer() || unknown(a, type.dtype()) || unknown(b, type.dtype())) return {0, 1};
  switch (op.opcode()) {
    case Opcode::kEq:
      return of_bool(is_equal(a, b));
    case Opcode::kNe:
      return of_bool(negated(is_equal(a, b)));
    case Opcode::kLt:
      return of_bool(is_less(a, b));
    case Opcode::kGe:
      return of_bool(negated(is_less(a, b)));
    case Opcode::kGt:
      return of_bool(is_less(b, a));
    default:
      return of_bool(negated(is_less(b, a)));
  }
}

Range converted(const Operation& op, const RangeSource& operands) {
  const ir::Type& from = op.operand(0)->type();
  DType to = op.result()->type().dtype();
  if (!from.is_integer() || is_float(to)) return Range::of_dtype(to);
  Range range = operands.range(op.operand(0));
  if (unknown(range, from.dtype())) return Range::of_dtype(to);
  if (is_bool(to)) return of_bool(negated(is_equal(range, Range::of(0))));
  if (to == DType::kUInt64) return range.low < 0 ? Range::all() : range;
  return wrapped(range, to);
}

Range reduced(const Operation& op, int result, const RangeSource& operands) {
  const ir::Type& type = op.result(result)->type();
  Range everything = Range::of_dtype(type.dtype());
  const ir::Type& input = op.operand(0)->type();
  int64_t extent = input.extent(static_cast<int>(op.integer(AttributeName::kAxis)));
  Range range = operands.range(op.operand(0));
  switch (op.enumerator<ir::CombineKind>(AttributeName::kCombine)) {
    case ir::CombineKind::kArgMax:
    case ir::CombineKind::kArgMin:
      return result == 1 ? Range{0, extent - 1} : range;
    case ir::CombineKind::kMax:
    case ir::CombineKind::kMin:
      return range;
    case ir::CombineKind::kAdd:
      if (unknown(range, type.dtype()) || !type.is_integer()) return everything;
      return wrapped(range * Range{op.is(Opcode::kScan) ? 1 : extent, extent}, type.dtype());
    case ir::CombineKind::kMultiply:
    case ir::CombineKind::kXor:
    case ir::CombineKind::kCustom:
      return everything;
  }
  return everything;
}

// What needs no wrapping: results that lie between or below the operands.
std::optional<Range> bounded(const Operation& op, const RangeSource& operands) {
  Range a = operands.range(op.operand(0));
  Range b = op.operand_count() > 1 ? operands.range(op.operand(1)) : Range();
  DType dtype = op.result()->type().dtype();
  if (unknown(a, dtype) || (op.operand_count() > 1 && unknown(b, dtype))) return std::nullopt;
  switch (op.opcode()) {
    case Opcode::kRem:
      return truncated_remainder(a, b);
    case Opcode::kMin:
      return minimum(a, b);
    case Opcode::kMax:
      return maximum(a, b);
    case Opcode::kAnd:
      return bitwise_and(a, b);
    case Opcode::kOr:
    case Opcode::kXor:
      return bitwise_or(a, b);
    case Opcode::kShr:
      if (!b.is_single() || b.low < 0 || b.low >= bit_width(dtype)) return std::nullopt;
      return Range{a.low >> b.low, a.high >> b.low};
    default:
      return std::nullopt;
  }
}

// At most what all bases give together.
Range linear_range(const Operation& op) {
  int64_t bits = 0;
  for (AttributeName name :
       {AttributeName::kRegisterBases, AttributeName::kLaneBases, AttributeName::kWarpBases})
    for (int64_t base : op.integers(name)) bits |= base;
  return {0, bits};
}

std::optional<Range> source_range(const Operation& op) {
  switch (op.opcode()) {
    case Opcode::kConstant: {
      if (!op.result()->type().is_integer()) return std::nullopt;
      int64_t value = *ir::constant_integer(op.result());
      bool huge = op.result()->type().dtype() == DType::kUInt64 && value < 0;
      return huge ? Range::all() : Range::of(value);
    }
    case Opcode::kArange: {
      int64_t start = op.integer(AttributeName::kStart);
      return Range{start, start + op.result()->type().elements() - 1};
    }
    case Opcode::kProgramId:
      return Range{0, kMaxPrograms - 1};
    case Opcode::kNumPrograms:
      return Range{1, kMaxPrograms};
    case Opcode::kLinear:
      return linear_range(op);
    case Opcode::kResident:
      return op.text(AttributeName::kResident) == "id" ? Range{0, kMaxPrograms - 1}
                                                       : Range{1, kMaxPrograms};
    default:
      return std::nullopt;
  }
}

}  // namespace

Range wrapped(const Range& exact, DType dtype) {
  Range everything = Range::of_dtype(dtype);
  bool saturated = exact.low == std::numeric_limits<int64_t>::min() ||
                   exact.high == std::numeric_limits<int64_t>::max();
  if (saturated || !everything.contains(exact)) return everything;
  return dtype == DType::kUInt64 && exact.low < 0 ? Range::all() : exact;
}

std::optional<Range> exact_range(const Operation& op, const RangeSource& operands) {
  if (op.record().op_class != ir::OpClass::kElementwise) return std::nullopt;
  const ir::Type& type = op.result()->type();
  if (!type.is_integer()) return std::nullopt;
  Range a = operands.range(op.operand(0));
  Range b = op.operand_count() > 1 ? operands.range(op.operand(1)) : Range();
  bool opaque = unknown(a, type.dtype()) || (op.operand_count() > 1 && unknown(b, type.dtype()));
  switch (op.opcode()) {
    case Opcode::kNeg:
      return opaque ? Range::all() : Range::of(0) - a;
    case Opcode::kAbs:
      return opaque ? Range::all() : maximum(a, Range::of(0) - a);
    case Opcode::kAdd:
      return opaque ? Range::all() : a + b;
    case Opcode::kSub:
      return opaque ? Range::all() : a - b;
    case Opcode::kMul:
      return opaque ? Range::all() : a * b;
    case Opcode::kDiv:
      return opaque ? Range::all() : truncated_quotient(a, b);
    case Opcode::kShl:
      if (opaque || !b.is_single() || b.low < 0 || b.low >= bit_width(type.dtype()) || b.low > 62)
        return Range::all();
      return a * Range::of(int64_t{1} << b.low);
    default:
      return std::nullopt;
  }
}

Range result_range(const Operation& op, int result, const RangeSource& operands) {
  const ir::Type& type = op.result(result)->type();
  if (!type.is_integer()) return Range::all();
  if (std::optional<Range> range = source_range(op)) return *range;
  Range everything = Range::of_dtype(type.dtype());
  switch (op.record().op_class) {
    case ir::OpClass::kElementwise:
      break;
    case ir::OpClass::kShape:
      return operands.range(op.operand(0));
    case ir::OpClass::kReduction:
      return reduced(op, result, operands);
    case ir::OpClass::kSource:
    case ir::OpClass::kMatrix:
    case ir::OpClass::kMemory:
    case ir::OpClass::kControl:
    case ir::OpClass::kDebug:
    case ir::OpClass::kSimt:
      return everything;
  }
  if (ir::op_rules(op.opcode()).result == ir::ResultRule::kBoolLike)
    return comparison(op, operands);
  if (op.is(Opcode::kCast)) return converted(op, operands);
  if (op.is(Opcode::kHint)) return operands.range(op.operand(0));
  if (op.is(Opcode::kSelect))
    return hull(operands.range(op.operand(0)), operands.range(op.operand(1)));
  if (!op.operand(0)->type().is_integer()) return everything;
  if (std::optional<Range> exact = exact_range(op, operands)) return wrapped(*exact, type.dtype());
  std::optional<Range> range = bounded(op, operands);
  return range ? wrapped(*range, type.dtype()) : everything;
}

}  // namespace enceladus::analysis
