// Handlers: changes of shape.
#include "frontend/functions_shape.h"

#include <algorithm>

#include "frontend/handlers.h"

namespace enceladus::frontend {
namespace {

ir::Value* runtime_argument(const Arguments& arguments, const char* name) {
  const Value& value = arguments.value(name);
  if (value.is_runtime()) return value.ssa;
  return arguments.number(name);
}

Value reshape(const Arguments& arguments) {
  Context& context = arguments.context();
  ir::Value* input = arguments.tile("input");
  std::vector<int64_t> shape = arguments.rest_integers();
  check_shape(context, shape);
  ir::Type type = input->type().with_shape(shape);
  if (type.elements() != input->type().elements())
    context.fail(DiagnosticId::kReshapeCount,
                 {shape_text(input->type().shape()), std::to_string(input->type().elements()),
                  shape_text(shape), std::to_string(type.elements())});
  if (type == input->type()) return Value::runtime(input);
  return Value::runtime(context.builder.create_typed(ir::Opcode::kReshape, {input}, type));
}

Value transpose(Context& context, ir::Value* input, const std::vector<int64_t>& order) {
  std::vector<int64_t> shape;
  for (int64_t axis : order) shape.push_back(input->type().extent(static_cast<int>(axis)));
  return Value::runtime(context.builder.create_typed(ir::Opcode::kTranspose, {input},
                                                     input->type().with_shape(shape),
                                                     {{ir::AttributeName::kPermutation, order}}));
}

Value permute(const Arguments& arguments) {
  Context& context = arguments.context();
  ir::Value* input = arguments.tile("input");
  int rank = input->type().rank();
  std::vector<int64_t> order = arguments.rest_integers();
  for (int64_t& axis : order) axis = axis < 0 ? axis + rank : axis;
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool is_permutation = static_cast<int>(order.size()) == rank;
  for (int i = 0; is_permutation && i < rank; ++i)
    is_permutation = sorted[static_cast<size_t>(i)] == i;
  if (!is_permutation)
    context.fail(DiagnosticId::kNotAPermutation,
                 {arguments.quoted(), shape_text(order), std::to_string(rank)});
  return transpose(context, input, order);
}

}  // namespace

Value with_new_dimensions(Context& context, ir::Value* value, std::span<const int64_t> shape) {
  check_shape(context, shape);
  const ir::Type& type = value->type();
  if (std::equal(shape.begin(), shape.end(), type.shape().begin(), type.shape().end()))
    return Value::runtime(value);
  if (type.rank() == 0) return Value::runtime(context.builder.broadcast_to(value, shape));
  size_t next = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    std::span<const int64_t> now = value->type().shape();
    // Equal extents stay; an extent of 1 is new where more dimensions are wanted than are left.
    bool is_new = shape[i] == 1 && (next >= type.shape().size() || type.shape()[next] != 1 ||
                                    shape.size() - i > type.shape().size() - next);
    if (!is_new) {
      ++next;
      continue;
    }
    std::vector<int64_t> expanded(now.begin(), now.end());
    expanded.insert(expanded.begin() + static_cast<int64_t>(i), 1);
    value = context.builder.create_typed(ir::Opcode::kExpandDims, {value},
                                         value->type().with_shape(expanded),
                                         {{ir::AttributeName::kAxis, static_cast<int64_t>(i)}});
  }
  return Value::runtime(value);
}

Value transposed(Context& context, ir::Value* tile) {
  int rank = tile->type().rank();
  if (rank < 2) context.fail(DiagnosticId::kTransposeRank, {to_user_string(tile->type())});
  std::vector<int64_t> order;
  for (int i = 0; i < rank - 2; ++i) order.push_back(i);
  order.push_back(rank - 1);
  order.push_back(rank - 2);
  return transpose(context, tile, order);
}

template <>
Value handle<FunctionId::kBroadcast>(const Arguments& arguments) {
  ir::Value *a = runtime_argument(arguments, "input"), *b = runtime_argument(arguments, "other");
  ir::Builder& builder = arguments.context().builder;
  std::vector<int64_t> shape =
      common_shape(arguments.context(), a->type().shape(), b->type().shape());
  return Value::tuple({Value::runtime(builder.broadcast_to(a, shape)),
                       Value::runtime(builder.broadcast_to(b, shape))});
}

template <>
Value handle<FunctionId::kBroadcastTo>(const Arguments& arguments) {
  std::vector<int64_t> shape = arguments.rest_integers();
  check_shape(arguments.context(), shape);
  return Value::runtime(
      broadcast_to(arguments.context(), runtime_argument(arguments, "input"), shape));
}

template <>
Value handle<FunctionId::kExpandDims>(const Arguments& arguments) {
  Context& context = arguments.context();
  ir::Value* input = runtime_argument(arguments, "input");
  std::vector<int64_t> axes = arguments.integers("axis");
  int rank = input->type().rank() + static_cast<int>(axes.size());
  std::vector<bool> is_new(static_cast<size_t>(rank), false);
  for (int64_t axis : axes) {
    size_t position = static_cast<size_t>(checked_axis(arguments, axis, rank));
    if (is_new[position])
      context.fail(DiagnosticId::kAxisTwice, {arguments.quoted(), std::to_string(axis)});
    is_new[position] = true;
  }
  if (input->type().rank() == 0) {
    std::vector<int64_t> ones(static_cast<size_t>(rank), 1);
    return Value::runtime(context.builder.broadcast_to(input, ones));
  }
  for (int i = 0; i < rank; ++i) {
    if (!is_new[static_cast<size_t>(i)]) continue;
    std::span<const int64_t> now = input->type().shape();
    std::vector<int64_t> shape(now.begin(), now.end());
    shape.insert(shape.begin() + i, 1);
    check_shape(context, shape);
    input = context.builder.create_typed(ir::Opcode::kExpandDims, {input},
                                         input->type().with_shape(shape),
                                         {{ir::AttributeName::kAxis, static_cast<int64_t>(i)}});
  }
  return Value::runtime(input);
}

template <>
Value handle<FunctionId::kReshape>(const Arguments& arguments) {
  return reshape(arguments);
}

template <>
Value handle<FunctionId::kView>(const Arguments& arguments) {
  return reshape(arguments);
}

template <>
Value handle<FunctionId::kTrans>(const Arguments& arguments) {
  if (arguments.rest().empty()) return transposed(arguments.context(), arguments.tile("input"));
  return permute(arguments);
}

template <>
Value handle<FunctionId::kPermute>(const Arguments& arguments) {
  return permute(arguments);
}

}  // namespace enceladus::frontend
