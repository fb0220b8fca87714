// Handlers: tensor descriptors. Whole blocks have operations of their own; gather, scatter and
// atomic_add become pointers with masks.
#include "frontend/handlers.h"

namespace enceladus::frontend {
namespace {

constexpr size_t kMaxDescriptorRank = 5;

std::vector<ir::Value*> integer_scalars(const Arguments& arguments, std::string_view name) {
  Context& context = arguments.context();
  std::optional<std::vector<Value>> elements = elements_of(arguments.value(name));
  if (!elements)
    context.fail(DiagnosticId::kWrongArgument,
                 {arguments.quoted(), std::string(name), "a list of integers",
                  describe(arguments.value(name))});
  std::vector<ir::Value*> result;
  for (const Value& element : *elements) {
    bool is_integer_scalar = is_number(context, element) && shape_of(element).empty();
    ir::Value* value = is_integer_scalar ? materialize(context, element) : nullptr;
    if (!value || !value->type().is_integer())
      context.fail(DiagnosticId::kWrongArgument, {arguments.quoted(), std::string(name),
                                                  "a list of integers", describe(element)});
    result.push_back(value);
  }
  return result;
}

std::vector<ir::Value*> offsets_of(const Arguments& arguments, const Value& descriptor) {
  std::vector<ir::Value*> offsets = integer_scalars(arguments, "offsets");
  size_t rank = static_cast<size_t>(descriptor.type().rank());
  if (offsets.size() != rank)
    arguments.context().fail(DiagnosticId::kOffsetCount,
                             {std::to_string(offsets.size()), std::to_string(rank)});
  return offsets;
}

ir::Value* block_value(const Arguments& arguments, const ir::Type& type,
                       std::span<const int64_t> shape) {
  const Value& value = arguments.value("value");
  std::span<const int64_t> given = shape_of(value);
  if (value.is_runtime() && !given.empty() &&
      !std::equal(given.begin(), given.end(), shape.begin(), shape.end()))
    arguments.context().fail(DiagnosticId::kBlockShape, {shape_text(given), shape_text(shape)});
  return converted_argument(arguments, "value", type.dtype(), shape);
}

// Builds pointers to elements of a descriptor's array and the mask of those inside it, dimension by
// dimension. `index` is an integer tile that broadcasts to the shape.
class ElementAddresses {
 public:
  ElementAddresses(Context& context, const Value& descriptor, std::span<const int64_t> shape)
      : context_(context), parts_(descriptor.parts()), shape_(shape.begin(), shape.end()) {
    pointer_ = context.builder.broadcast_to(parts_.base, shape_);
  }

  void add_dimension(size_t dimension, ir::Value* index) {
    ir::Builder& builder = context_.builder;
    DType wide = DType::kInt64;
    ir::Value* position = builder.broadcast_to(builder.cast(index, wide), shape_);
    auto spread = [&](ir::Value* scalar) {
      return builder.broadcast_to(builder.cast(scalar, wide), shape_);
    };
    ir::Value* offset =
        builder.create(ir::Opcode::kMul, {position, spread(parts_.strides[dimension])});
    pointer_ = builder.create(ir::Opcode::kAddPtr, {pointer_, offset});
    ir::Value* zero = builder.integer(position->type(), 0);
    restrict_to(builder.create(ir::Opcode::kGe, {position, zero}));
    restrict_to(builder.create(ir::Opcode::kLt, {position, spread(parts_.sizes[dimension])}));
  }

  ir::Value* pointer() const { return pointer_; }
  ir::Value* mask() const { return mask_; }

 private:
  void restrict_to(ir::Value* condition) {
    mask_ = mask_ ? context_.builder.create(ir::Opcode::kAnd, {mask_, condition}) : condition;
  }

  Context& context_;
  const DescriptorParts& parts_;
  std::vector<int64_t> shape_;
  ir::Value* pointer_ = nullptr;
  ir::Value* mask_ = nullptr;
};

// start + 0, 1, ... along one dimension of a tile of the rank.
ir::Value* positions(Context& context, ir::Value* start, int64_t extent, size_t dimension,
                     size_t rank) {
  ir::Builder& builder = context.builder;
  int64_t flat[] = {extent};
  ir::Value* steps =
      builder.create_typed(ir::Opcode::kArange, {}, ir::Type::number(DType::kInt32, flat),
                           {{ir::AttributeName::kStart, int64_t{0}}});
  steps = builder.cast(steps, DType::kInt64);
  ir::Value* first = builder.broadcast_to(builder.cast(start, DType::kInt64), flat);
  ir::Value* result = builder.create(ir::Opcode::kAdd, {first, steps});
  std::vector<int64_t> shape(rank, 1);
  shape[dimension] = extent;
  if (rank == 1) return result;
  return builder.create_typed(ir::Opcode::kReshape, {result}, result->type().with_shape(shape));
}

struct RowAddresses {
  ElementAddresses addresses;
  std::vector<int64_t> shape;
};

RowAddresses row_addresses(const Arguments& arguments) {
  Context& context = arguments.context();
  const Value& descriptor = arguments.descriptor("desc");
  const ir::Type& type = descriptor.type();
  ir::Value* rows = arguments.tile("x_offsets");
  if (type.rank() != 2 || type.extent(0) != 1)
    context.fail(DiagnosticId::kGatherBlock, {arguments.quoted(), shape_text(type.shape())});
  if (!rows->type().is_integer() || rows->type().rank() != 1)
    context.fail(DiagnosticId::kWrongArgument,
                 {arguments.quoted(), "x_offsets", "an integer tile of one dimension",
                  to_user_string(rows->type())});
  ir::Value* column = arguments.number("y_offset");
  if (!column->type().is_integer() || column->type().rank() != 0)
    context.fail(DiagnosticId::kWrongArgument, {arguments.quoted(), "y_offset", "an integer scalar",
                                                to_user_string(column->type())});
  std::vector<int64_t> shape = {rows->type().extent(0), type.extent(1)};
  check_shape(context, shape);
  ElementAddresses addresses(context, descriptor, shape);
  ir::Value* column_of_rows = context.builder.create_typed(
      ir::Opcode::kExpandDims, {rows}, rows->type().with_shape(std::vector<int64_t>{shape[0], 1}),
      {{ir::AttributeName::kAxis, int64_t{1}}});
  addresses.add_dimension(0, column_of_rows);
  addresses.add_dimension(1, positions(context, column, shape[1], 1, 2));
  return {std::move(addresses), std::move(shape)};
}

ir::Value* padding_value(Context& context, const Value& descriptor,
                         std::span<const int64_t> shape) {
  if (!descriptor.parts().pads_with_nan) return nullptr;
  return context.builder.floating(ir::Type::number(descriptor.type().dtype(), shape),
                                  std::numeric_limits<double>::quiet_NaN());
}

void check_strides(const Arguments& arguments, std::span<ir::Value* const> strides) {
  if (ir::constant_integer(strides.back()) == 1) return;
  arguments.context().fail(DiagnosticId::kLastStride, {describe(Value::runtime(strides.back()))});
}

}  // namespace

template <>
Value handle<FunctionId::kMakeTensorDescriptor>(const Arguments& arguments) {
  Context& context = arguments.context();
  ir::Value* base = arguments.pointer("base");
  if (base->type().rank() != 0)
    context.fail(DiagnosticId::kWrongArgument,
                 {arguments.quoted(), "base", "one pointer", to_user_string(base->type())});
  DescriptorParts parts{.base = base,
                        .sizes = integer_scalars(arguments, "shape"),
                        .strides = integer_scalars(arguments, "strides")};
  std::vector<int64_t> block = arguments.shape("block_shape");
  if (block.empty() || block.size() > kMaxDescriptorRank || parts.sizes.size() != block.size() ||
      parts.strides.size() != block.size())
    context.fail(DiagnosticId::kDescriptorRanks,
                 {std::to_string(parts.sizes.size()), std::to_string(parts.strides.size()),
                  std::to_string(block.size())});
  check_strides(arguments, parts.strides);
  std::string padding = arguments.text("padding_option");
  if (padding != "zero" && padding != "nan")
    context.fail(DiagnosticId::kUnknownChoice,
                 {arguments.quoted(), "padding_option", padding, "\"zero\", \"nan\""});
  parts.pads_with_nan = padding == "nan";
  if (parts.pads_with_nan && !is_float(base->type().dtype()))
    context.fail(DiagnosticId::kPaddingOfIntegers,
                 {std::string(info(base->type().dtype()).python_name)});
  std::vector<ir::Value*> operands = {base};
  operands.insert(operands.end(), parts.sizes.begin(), parts.sizes.end());
  operands.insert(operands.end(), parts.strides.begin(), parts.strides.end());
  std::vector<ir::Attribute> attributes;
  if (parts.pads_with_nan)
    attributes.push_back({ir::AttributeName::kPadding, static_cast<int64_t>(ir::Padding::kNan)});
  ir::Type type = ir::Type::descriptor(base->type().dtype(), block);
  ir::Operation* op = context.builder.create(ir::Opcode::kMakeDescriptor, operands,
                                             std::span(&type, 1), std::move(attributes));
  return Value::descriptor(op->result(), std::move(parts));
}

template <>
Value handle<FunctionId::kDescriptorLoad>(const Arguments& arguments) {
  Context& context = arguments.context();
  const Value& descriptor = arguments.descriptor("desc");
  std::vector<ir::Value*> operands = offsets_of(arguments, descriptor);
  operands.insert(operands.begin(), descriptor.ssa);
  ir::Type type = ir::Type::number(descriptor.type().dtype(), descriptor.type().shape());
  return Value::runtime(
      context.builder.create(ir::Opcode::kDescriptorLoad, operands, std::span(&type, 1))->result());
}

template <>
Value handle<FunctionId::kDescriptorStore>(const Arguments& arguments) {
  Context& context = arguments.context();
  const Value& descriptor = arguments.descriptor("desc");
  std::vector<ir::Value*> operands = offsets_of(arguments, descriptor);
  ir::Value* value = block_value(arguments, descriptor.type(), descriptor.type().shape());
  operands.insert(operands.begin(), {descriptor.ssa, value});
  context.builder.create(ir::Opcode::kDescriptorStore, operands, {});
  return Value::none();
}

template <>
Value handle<FunctionId::kDescriptorGather>(const Arguments& arguments) {
  Context& context = arguments.context();
  RowAddresses rows = row_addresses(arguments);
  ir::Value* other = padding_value(context, arguments.descriptor("desc"), rows.shape);
  return Value::runtime(context.builder.create(
      ir::Opcode::kLoad, {rows.addresses.pointer(), rows.addresses.mask(), other}));
}

template <>
Value handle<FunctionId::kDescriptorScatter>(const Arguments& arguments) {
  RowAddresses rows = row_addresses(arguments);
  ir::Value* value = block_value(arguments, arguments.descriptor("desc").type(), rows.shape);
  arguments.context().builder.create(ir::Opcode::kStore,
                                     {rows.addresses.pointer(), value, rows.addresses.mask()});
  return Value::none();
}

template <>
Value handle<FunctionId::kDescriptorAtomicAdd>(const Arguments& arguments) {
  Context& context = arguments.context();
  const Value& descriptor = arguments.descriptor("desc");
  const ir::Type& type = descriptor.type();
  if (is_bool(type.dtype()) || is_float8(type.dtype()))
    context.fail(DiagnosticId::kAtomicType,
                 {arguments.quoted(), std::string(info(type.dtype()).python_name)});
  std::vector<ir::Value*> offsets = offsets_of(arguments, descriptor);
  ElementAddresses addresses(context, descriptor, type.shape());
  for (size_t i = 0; i < offsets.size(); ++i)
    addresses.add_dimension(
        i, positions(context, offsets[i], type.extent(static_cast<int>(i)), i, offsets.size()));
  ir::Value* value = block_value(arguments, type, type.shape());
  context.builder.create(
      ir::Opcode::kAtomicRmw, {addresses.pointer(), value, addresses.mask()},
      {{ir::AttributeName::kAtomic, static_cast<int64_t>(ir::AtomicKind::kAdd)}});
  return Value::none();
}

}  // namespace enceladus::frontend
