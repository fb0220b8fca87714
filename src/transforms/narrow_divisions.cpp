#include "transforms/narrow_divisions.h"

#include <limits>
#include <vector>

#include "analysis/facts.h"
#include "ir/builder.h"

namespace enceladus::transforms {
namespace {

using analysis::Range;
using ir::Opcode;
using ir::Operation;
using ir::Value;

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
// Smaller in size than what a divisor that is out of range is replaced by.
constexpr Range kDividends{-(kMost - 1), kMost - 1};
constexpr Range kDivisors{-kMost, kMost};

bool is_constant(const Value* value) {
  while (value->definition() && value->definition()->is(Opcode::kSplat))
    value = value->definition()->operand(0);
  return ir::constant_integer(value).has_value();
}

// The dtype to divide in.
DType divided_in(const Range& dividend, const Range& divisor, DType dtype) {
  bool is_wide = byte_size(dtype) == 8 && !kDividends.contains(dividend);
  bool is_natural = dividend.low >= 0 && divisor.low >= 0;
  if (is_wide) return is_natural ? DType::kUInt64 : dtype;
  return is_natural ? DType::kUInt32 : DType::kInt32;
}

void narrow(ir::Builder& builder, Operation& op, const Range& divisor, DType to) {
  builder.set_insertion_before(&op);
  builder.set_location_of(&op);
  const ir::Type& type = op.result()->type();
  Value* by = op.operand(1);
  if (byte_size(to) < byte_size(type.dtype())) {
    if (divisor.low < kDivisors.low)
      by = builder.create(Opcode::kMax, {by, builder.integer(type, kDivisors.low)});
    if (divisor.high > kDivisors.high)
      by = builder.create(Opcode::kMin, {by, builder.integer(type, kDivisors.high)});
  }
  Value* result =
      builder.create(op.opcode(), {builder.cast(op.operand(0), to), builder.cast(by, to)});
  op.result()->replace_all_uses_with(builder.cast(result, type.dtype()));
}

}  // namespace

bool narrow_divisions(ir::Function& function) {
  struct Division {
    Operation* op;
    Range divisor;
    DType to;
  };
  const analysis::Facts facts(function);
  std::vector<Division> divisions;
  ir::walk(function.body(), [&](Operation* op) {
    if (!op->is(Opcode::kDiv) && !op->is(Opcode::kRem)) return;
    DType dtype = op->result()->type().dtype();
    if ((dtype != DType::kInt32 && dtype != DType::kInt64) || is_constant(op->operand(1))) return;
    Range divisor = facts.range(op->operand(1));
    DType to = divided_in(facts.range(op->operand(0)), divisor, dtype);
    if (to != dtype) divisions.push_back({op, divisor, to});
  });
  ir::Builder builder(function);
  for (const auto& [op, divisor, to] : divisions) narrow(builder, *op, divisor, to);
  return !divisions.empty();
}

}  // namespace enceladus::transforms
