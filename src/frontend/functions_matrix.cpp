// Handlers: `tl.dot`.
#include <algorithm>

#include "frontend/handlers.h"

namespace enceladus::frontend {
namespace {

constexpr int64_t kSmallestK = 8;

bool is_dot_type(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kFloat8E4M3:
    case DType::kFloat8E5M2:
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32:
    case DType::kFloat64:
      return true;
    case DType::kInt1:
    case DType::kInt64:
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kUInt64:
      return false;
  }
  return false;
}

void check_operands(Context& context, const ir::Type& a, const ir::Type& b) {
  if (a.rank() != 2 || b.rank() != 2)
    context.fail(DiagnosticId::kDotRank, {to_user_string(a), to_user_string(b)});
  if (a.extent(1) != b.extent(0))
    context.fail(
        DiagnosticId::kDotInnerSizes,
        {std::to_string(a.extent(1)), std::to_string(b.extent(0)),
         a.extent(1) == b.extent(1) ? "`b.T` has " + std::to_string(b.extent(1)) + " rows"
                                    : "the columns of `a` are summed over, with the rows of `b`"});
  bool alike = a.dtype() == b.dtype() || (is_float8(a.dtype()) && is_float8(b.dtype()));
  if (!alike || !is_dot_type(a.dtype()))
    context.fail(DiagnosticId::kDotTypes, {std::string(info(a.dtype()).python_name),
                                           std::string(info(b.dtype()).python_name)});
  if (a.extent(1) < kSmallestK)
    context.fail(DiagnosticId::kDotSmallK, {std::to_string(a.extent(1))});
}

DType default_accumulator(const Arguments& arguments, DType operand) {
  if (operand == DType::kFloat64) return DType::kFloat64;
  return is_float(operand) ? arguments.dtype("out_dtype") : DType::kInt32;
}

bool accepts_accumulator(DType operand, DType accumulator) {
  if (operand == DType::kFloat64) return accumulator == DType::kFloat64;
  if (!is_float(operand)) return accumulator == DType::kInt32;
  if (accumulator == DType::kFloat32) return true;
  if (is_float8(operand)) return accumulator == DType::kFloat16;
  return accumulator == operand && operand != DType::kFloat32;
}

ir::Value* accumulator(const Arguments& arguments, const ir::Type& a, const ir::Type& b) {
  Context& context = arguments.context();
  std::vector<int64_t> shape = {a.extent(0), b.extent(1)};
  bool given = arguments.has("acc");
  ir::Type type = given ? arguments.tile("acc")->type()
                        : ir::Type::number(default_accumulator(arguments, a.dtype()), shape);
  if (!accepts_accumulator(a.dtype(), type.dtype()) || !type.is_number())
    context.fail(DiagnosticId::kDotAccumulator, {std::string(info(a.dtype()).python_name),
                                                 std::string(info(type.dtype()).python_name)});
  if (type != ir::Type::number(type.dtype(), shape))
    context.fail(DiagnosticId::kDotAccumulatorShape, {shape_text(type.shape()), shape_text(shape)});
  return given ? arguments.tile("acc") : context.builder.integer(type, 0);
}

std::vector<ir::Attribute> dot_attributes(const Arguments& arguments) {
  std::vector<ir::Attribute> attributes;
  std::string precision = arguments.text("input_precision");
  if (precision.empty() && arguments.has("allow_tf32") && arguments.flag("allow_tf32"))
    precision = "tf32";
  std::span<const std::string_view> names =
      ir::enumerator_names(ir::AttributeKind::kInputPrecision);
  if (!precision.empty()) {
    int64_t index = std::ranges::find(names, precision) - names.begin();
    if (index == static_cast<int64_t>(names.size()))
      arguments.context().fail(
          DiagnosticId::kUnknownChoice,
          {arguments.quoted(), "input_precision", precision, "\"ieee\", \"tf32\", \"tf32x3\""});
    if (index != static_cast<int64_t>(ir::InputPrecision::kIeee))
      attributes.push_back({ir::AttributeName::kInputPrecision, index});
  }
  if (arguments.has("max_num_imprecise_acc"))
    attributes.push_back(
        {ir::AttributeName::kMaxNumImpreciseAcc, arguments.integer("max_num_imprecise_acc")});
  return attributes;
}

}  // namespace

template <>
Value handle<FunctionId::kDot>(const Arguments& arguments) {
  ir::Value *a = arguments.tile("a"), *b = arguments.tile("b");
  if (!a->type().is_number()) arguments.number("a");
  if (!b->type().is_number()) arguments.number("b");
  check_operands(arguments.context(), a->type(), b->type());
  ir::Value* acc = accumulator(arguments, a->type(), b->type());
  return Value::runtime(arguments.context().builder.create_typed(
      ir::Opcode::kDot, {a, b, acc}, acc->type(), dot_attributes(arguments)));
}

}  // namespace enceladus::frontend
