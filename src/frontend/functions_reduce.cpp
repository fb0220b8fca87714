// Handlers: reductions and scans.
#include "frontend/calls.h"
#include "frontend/handlers.h"

namespace enceladus::frontend {
namespace {

std::vector<int64_t> without_axis(const ir::Type& type, int axis) {
  std::vector<int64_t> shape(type.shape().begin(), type.shape().end());
  shape.erase(shape.begin() + axis);
  return shape;
}

// Where a reduction runs: the tile (flat for axis None) and the axis in it.
struct Place {
  ir::Value* tile;
  int axis;
};

Place place_of(const Arguments& arguments, ir::Value* tile) {
  const Value& axis = arguments.value("axis");
  if (!axis.is_none())
    return {tile, checked_axis(arguments, arguments.integer("axis"), tile->type().rank())};
  if (tile->type().rank() == 1) return {tile, 0};
  // All elements in row-major order, so that argmax finds the first of equals in that order.
  std::vector<int64_t> flat = {tile->type().elements()};
  return {arguments.context().builder.create_typed(ir::Opcode::kReshape, {tile},
                                                   tile->type().with_shape(flat)),
          0};
}

ir::Operation* reduce(const Arguments& arguments, const Place& place, ir::CombineKind combine) {
  ir::Type type = place.tile->type().with_shape(without_axis(place.tile->type(), place.axis));
  std::vector<ir::Type> types = {type};
  bool with_index = combine == ir::CombineKind::kArgMax || combine == ir::CombineKind::kArgMin;
  if (with_index) types.push_back(type.with_dtype(DType::kInt32));
  return arguments.context().builder.create(
      ir::Opcode::kReduce, std::span<ir::Value* const>(&place.tile, 1), types,
      {{ir::AttributeName::kCombine, static_cast<int64_t>(combine)},
       {ir::AttributeName::kAxis, static_cast<int64_t>(place.axis)}});
}

// Puts the removed axis back with extent 1 where `keep_dims` asks for it.
Value with_kept_axis(const Arguments& arguments, const Place& place, ir::Value* result,
                     int original_rank) {
  if (!arguments.flag("keep_dims")) return Value::runtime(result);
  ir::Builder& builder = arguments.context().builder;
  if (result->type().rank() == 0) {
    std::vector<int64_t> ones(static_cast<size_t>(original_rank), 1);
    return Value::runtime(builder.broadcast_to(result, ones));
  }
  std::vector<int64_t> shape(result->type().shape().begin(), result->type().shape().end());
  shape.insert(shape.begin() + place.axis, 1);
  return Value::runtime(
      builder.create_typed(ir::Opcode::kExpandDims, {result}, result->type().with_shape(shape),
                           {{ir::AttributeName::kAxis, static_cast<int64_t>(place.axis)}}));
}

ir::Value* any_number_tile(const Arguments& arguments) {
  ir::Value* tile = arguments.tile("input");
  if (!tile->type().is_number()) arguments.number("input");
  return tile;
}

ir::Value* number_tile(const Arguments& arguments) {
  ir::Value* tile = any_number_tile(arguments);
  refuse_float8(arguments.context(), tile->type().dtype(), arguments.quoted());
  return tile;
}

// The type in which a sum of `dtype` accumulates.
DType accumulator_of(DType dtype) {
  if (is_float(dtype)) return bit_width(dtype) < 32 ? DType::kFloat32 : dtype;
  return bit_width(dtype) < 32 ? DType::kInt32 : dtype;
}

struct Accumulation {
  ir::Value* tile;  // in the accumulator's type
  DType result;     // what the result is rounded to
};

Accumulation accumulation(const Arguments& arguments, bool has_dtype) {
  ir::Builder& builder = arguments.context().builder;
  ir::Value* tile = any_number_tile(arguments);
  bool asked = has_dtype && arguments.has("dtype");
  if (asked) tile = builder.cast(tile, arguments.dtype("dtype"));
  DType dtype = tile->type().dtype();
  refuse_float8(arguments.context(), dtype, arguments.quoted());
  DType accumulator = accumulator_of(dtype);
  // Small integers sum as int32 by default; a type that was asked for is kept.
  DType result = is_float(dtype) || asked ? dtype : accumulator;
  return {builder.cast(tile, accumulator), result};
}

Value extremum(const Arguments& arguments, bool is_max) {
  ir::Value* tile = number_tile(arguments);
  Place place = place_of(arguments, tile);
  if (!arguments.flag("return_indices")) {
    ir::Operation* op =
        reduce(arguments, place, is_max ? ir::CombineKind::kMax : ir::CombineKind::kMin);
    return with_kept_axis(arguments, place, op->result(), tile->type().rank());
  }
  ir::Operation* op =
      reduce(arguments, place, is_max ? ir::CombineKind::kArgMax : ir::CombineKind::kArgMin);
  return Value::tuple({with_kept_axis(arguments, place, op->result(0), tile->type().rank()),
                       with_kept_axis(arguments, place, op->result(1), tile->type().rank())});
}

Value index_of_extremum(const Arguments& arguments, ir::CombineKind combine) {
  ir::Value* tile = number_tile(arguments);
  Place place = place_of(arguments, tile);
  ir::Operation* op = reduce(arguments, place, combine);
  return with_kept_axis(arguments, place, op->result(1), tile->type().rank());
}

Value scan(const Arguments& arguments, ir::CombineKind combine, bool has_dtype) {
  ir::Builder& builder = arguments.context().builder;
  Accumulation sum = accumulation(arguments, has_dtype);
  int axis = checked_axis(arguments, arguments.integer("axis"), sum.tile->type().rank());
  std::vector<ir::Attribute> attributes = {
      {ir::AttributeName::kCombine, static_cast<int64_t>(combine)},
      {ir::AttributeName::kAxis, static_cast<int64_t>(axis)}};
  if (arguments.flag("reverse")) attributes.push_back({ir::AttributeName::kReverse, int64_t{1}});
  ir::Value* result =
      builder.create_typed(ir::Opcode::kScan, {sum.tile}, sum.tile->type(), std::move(attributes));
  return Value::runtime(builder.cast(result, sum.result));
}

// --- combine functions --------------------------------------------------------------------------

struct CustomInputs {
  std::vector<ir::Value*> tiles;
  bool is_tuple;
};

CustomInputs custom_inputs(const Arguments& arguments) {
  Context& context = arguments.context();
  const Value& input = arguments.value("input");
  if (!input.is_tuple()) return {{number_tile(arguments)}, false};
  CustomInputs result{{}, true};
  for (const Value& element : input.elements()) {
    if (!element.is_runtime() || element.type().rank() == 0 ||
        (!result.tiles.empty() &&
         !std::ranges::equal(element.type().shape(), result.tiles[0]->type().shape())))
      context.fail(DiagnosticId::kWrongArgument,
                   {arguments.quoted(), "input", "tiles of one shape", describe(element)});
    refuse_float8(context, element.type().dtype(), arguments.quoted());
    result.tiles.push_back(element.ssa);
  }
  return result;
}

// Makes straight-line code of a combine function: both sides of each `if` are computed, and the
// condition selects. What is left has no effect and reads no memory, so that it works on many
// elements at once.
void flatten_branches(Context& context, ir::Region* region) {
  for (ir::Operation* op : *region) {
    if (op->is(ir::Opcode::kYield) || op->is(ir::Opcode::kConstant) ||
        op->record().op_class == ir::OpClass::kElementwise)
      continue;
    if (!op->is(ir::Opcode::kIf)) {
      bool is_loop = op->is(ir::Opcode::kFor) || op->is(ir::Opcode::kWhile);
      context.fail_at(op->location(), DiagnosticId::kCombineOperation,
                      {is_loop ? "a loop" : "a `" + std::string(op->record().name) + "`"});
    }
    ir::Operation* ends[2];
    for (int side = 0; side < 2; ++side) {
      flatten_branches(context, op->region(side));
      ends[side] = op->region(side)->terminator();
      for (ir::Operation* inner : *op->region(side))
        if (inner != ends[side]) inner->move_before(op);
    }
    context.builder.set_insertion_before(op);
    for (int i = 0; i < op->result_count(); ++i)
      op->result(i)->replace_all_uses_with(context.builder.create(
          ir::Opcode::kSelect, {ends[0]->operand(i), ends[1]->operand(i), op->operand(0)}));
    op->erase();
  }
}

// The region of a custom reduction: the function applied to scalars.
void build_combine(const Arguments& arguments, ir::Operation* op,
                   std::span<ir::Value* const> inputs) {
  Context& context = arguments.context();
  ir::Region* region = op->region(0);
  CallArguments call;
  for (int side = 0; side < 2; ++side)
    for (ir::Value* input : inputs)
      call.positional.push_back(
          {Value::runtime(region->append_argument(input->type().element())), nullptr});
  ir::Region* outer = context.builder.region();
  context.builder.set_insertion_at_end(region);
  Value result = call_object(context, arguments.value("combine_fn"), call, arguments.node());
  std::vector<Value> results = {result};
  if (result.is_tuple() || elements_of(result)) results = *elements_of(result);
  if (results.size() != inputs.size())
    context.fail(DiagnosticId::kCombineCount,
                 {std::to_string(results.size()), std::to_string(inputs.size())});
  std::vector<ir::Value*> yielded;
  for (size_t i = 0; i < results.size(); ++i) {
    ir::Value* value = results[i].is_constant()
                           ? materialize_as(context, results[i], inputs[i]->type().dtype())
                           : materialize(context, results[i]);
    if (value->type() != inputs[i]->type().element())
      context.fail(DiagnosticId::kCombineType,
                   {to_user_string(value->type()), to_user_string(inputs[i]->type().element())});
    yielded.push_back(value);
  }
  context.builder.yield(yielded);
  flatten_branches(context, region);
  context.builder.set_insertion_at_end(outer);
}

}  // namespace

template <>
Value handle<FunctionId::kReduce>(const Arguments& arguments) {
  CustomInputs inputs = custom_inputs(arguments);
  std::vector<ir::Value*> tiles;
  std::vector<ir::Type> types;
  Place place{};
  for (ir::Value* tile : inputs.tiles) {
    place = place_of(arguments, tile);
    tiles.push_back(place.tile);
    types.push_back(tile->type().with_shape(without_axis(place.tile->type(), place.axis)));
  }
  ir::Operation* op = arguments.context().builder.create(
      ir::Opcode::kReduce, tiles, types,
      {{ir::AttributeName::kCombine, static_cast<int64_t>(ir::CombineKind::kCustom)},
       {ir::AttributeName::kAxis, static_cast<int64_t>(place.axis)}},
      1);
  build_combine(arguments, op, tiles);
  std::vector<Value> results;
  int rank = inputs.tiles[0]->type().rank();
  for (ir::Value* result : op->results())
    results.push_back(with_kept_axis(arguments, place, result, rank));
  return inputs.is_tuple ? Value::tuple(std::move(results)) : results[0];
}

template <>
Value handle<FunctionId::kAssociativeScan>(const Arguments& arguments) {
  CustomInputs inputs = custom_inputs(arguments);
  int axis = checked_axis(arguments, arguments.integer("axis"), inputs.tiles[0]->type().rank());
  std::vector<ir::Type> types;
  for (ir::Value* tile : inputs.tiles) types.push_back(tile->type());
  std::vector<ir::Attribute> attributes = {
      {ir::AttributeName::kCombine, static_cast<int64_t>(ir::CombineKind::kCustom)},
      {ir::AttributeName::kAxis, static_cast<int64_t>(axis)}};
  if (arguments.flag("reverse")) attributes.push_back({ir::AttributeName::kReverse, int64_t{1}});
  ir::Operation* op = arguments.context().builder.create(ir::Opcode::kScan, inputs.tiles, types,
                                                         std::move(attributes), 1);
  build_combine(arguments, op, inputs.tiles);
  std::vector<Value> results;
  for (ir::Value* result : op->results()) results.push_back(Value::runtime(result));
  return inputs.is_tuple ? Value::tuple(std::move(results)) : results[0];
}

template <>
Value handle<FunctionId::kSum>(const Arguments& arguments) {
  Accumulation sum = accumulation(arguments, true);
  Place place = place_of(arguments, sum.tile);
  ir::Value* result = reduce(arguments, place, ir::CombineKind::kAdd)->result();
  result = arguments.context().builder.cast(result, sum.result);
  return with_kept_axis(arguments, place, result, sum.tile->type().rank());
}

template <>
Value handle<FunctionId::kMax>(const Arguments& arguments) {
  return extremum(arguments, true);
}
template <>
Value handle<FunctionId::kMin>(const Arguments& arguments) {
  return extremum(arguments, false);
}
template <>
Value handle<FunctionId::kArgMax>(const Arguments& arguments) {
  return index_of_extremum(arguments, ir::CombineKind::kArgMax);
}
template <>
Value handle<FunctionId::kArgMin>(const Arguments& arguments) {
  return index_of_extremum(arguments, ir::CombineKind::kArgMin);
}

template <>
Value handle<FunctionId::kXorSum>(const Arguments& arguments) {
  ir::Value* tile = number_tile(arguments);
  if (!tile->type().is_integer())
    arguments.context().fail(
        DiagnosticId::kWrongOperandType,
        {arguments.quoted(), "integers", std::string(info(tile->type().dtype()).python_name)});
  Place place = place_of(arguments, tile);
  ir::Value* result = reduce(arguments, place, ir::CombineKind::kXor)->result();
  return with_kept_axis(arguments, place, result, tile->type().rank());
}

template <>
Value handle<FunctionId::kCumSum>(const Arguments& arguments) {
  return scan(arguments, ir::CombineKind::kAdd, true);
}
template <>
Value handle<FunctionId::kCumProd>(const Arguments& arguments) {
  return scan(arguments, ir::CombineKind::kMultiply, false);
}

}  // namespace enceladus::frontend
