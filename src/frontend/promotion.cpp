#include "frontend/promotion.h"

#include <algorithm>

#include "frontend/literals.h"
#include "frontend/names.h"

namespace enceladus::frontend {
namespace {

DType with_literal(DType dtype, const Literal& literal) {
  if (literal.kind == Literal::Kind::kFloat) return is_float(dtype) ? dtype : DType::kFloat32;
  if (is_float(dtype) || fits(literal, dtype)) return dtype;
  return promoted(dtype, default_dtype(literal));
}

DType by_rule(Context& context, DType dtype, OperandRule rule, std::string_view what) {
  auto refuse = [&](const char* expected) {
    context.fail(DiagnosticId::kWrongOperandType,
                 {std::string(what), expected, std::string(info(dtype).python_name)});
  };
  if (rule != OperandRule::kSame) refuse_float8(context, dtype, what);
  switch (rule) {
    case OperandRule::kSame:
    case OperandRule::kOrdered:
      return dtype;
    case OperandRule::kArithmetic:
      return is_bool(dtype) ? DType::kInt32 : dtype;
    case OperandRule::kDivision:
      return is_float(dtype) ? dtype : DType::kFloat32;
    case OperandRule::kBitwise:
      if (is_float(dtype)) refuse("integers");
      return dtype;
    case OperandRule::kFloat:
      if (!is_float(dtype)) refuse("floats");
      return dtype;
  }
  return dtype;
}

void check_number(Context& context, const Value& value, std::string_view what) {
  if (is_number(context, value)) return;
  if (value.is_runtime() && value.type().is_pointer())
    context.fail(DiagnosticId::kPointerOperand, {std::string(what), to_user_string(value.type())});
  context.fail(DiagnosticId::kBadOperand, {std::string(what), describe(value)});
}

}  // namespace

void refuse_float8(Context& context, DType dtype, std::string_view what) {
  if (is_float8(dtype))
    context.fail(DiagnosticId::kFloat8Computes,
                 {std::string(what), std::string(info(dtype).python_name)});
}

DType promoted(DType a, DType b) {
  if (a == b) return a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  int a_width = bit_width(a), b_width = bit_width(b);
  if (is_float(a)) {
    if (is_float8(a) && is_float8(b)) return DType::kFloat16;
    if (a_width == b_width) return DType::kFloat32;  // float16 with bfloat16
    return a_width > b_width ? a : b;
  }
  if (a_width != b_width && is_unsigned(a) == is_unsigned(b)) return a_width > b_width ? a : b;
  DType with_sign = is_unsigned(a) ? b : a;
  DType without = is_unsigned(a) ? a : b;
  return bit_width(without) >= bit_width(with_sign) ? without : with_sign;
}

DType common_dtype(Context& context, const Value& a, const Value& b) {
  if (a.is_runtime() && b.is_runtime()) return promoted(a.type().dtype(), b.type().dtype());
  if (a.is_runtime()) return with_literal(a.type().dtype(), *literal_of(context, b.object));
  Literal literal = *literal_of(context, a.object);
  if (b.is_runtime()) return with_literal(b.type().dtype(), literal);
  return promoted(default_dtype(literal), default_dtype(*literal_of(context, b.object)));
}

std::span<const int64_t> shape_of(const Value& value) {
  return value.is_runtime() ? value.ssa->type().shape() : std::span<const int64_t>();
}

Operands promote(Context& context, const Value& a, const Value& b, OperandRule rule,
                 std::string_view what) {
  check_number(context, a, what);
  check_number(context, b, what);
  DType dtype = by_rule(context, common_dtype(context, a, b), rule, what);
  std::vector<int64_t> shape = common_shape(context, shape_of(a), shape_of(b));
  return {materialize_as(context, a, dtype, shape), materialize_as(context, b, dtype, shape),
          dtype};
}

std::vector<int64_t> common_shape(Context& context, std::span<const int64_t> a,
                                  std::span<const int64_t> b) {
  std::vector<int64_t> result(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (left != right && left != 1 && right != 1)
      context.fail(DiagnosticId::kShapesDoNotBroadcast, {shape_text(a), shape_text(b)});
    result[result.size() - 1 - i] = std::max(left, right);
  }
  return result;
}

ir::Value* broadcast_to(Context& context, ir::Value* value, std::span<const int64_t> shape) {
  std::span<const int64_t> from = value->type().shape();
  bool possible = from.size() <= shape.size();
  for (size_t i = 0; possible && i < from.size(); ++i) {
    int64_t extent = from[from.size() - 1 - i];
    possible = extent == 1 || extent == shape[shape.size() - 1 - i];
  }
  if (!possible)
    context.fail(DiagnosticId::kCannotBroadcastTo, {shape_text(from), shape_text(shape)});
  return context.builder.broadcast_to(value, shape);
}

}  // namespace enceladus::frontend
