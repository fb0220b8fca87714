#include "lowering/tile_to_simt/hopper_parts.h"

#include <limits>

namespace enceladus::simt {

using ir::AttributeName;
using ir::Builder;
using ir::Opcode;
using ir::Type;
using ir::Value;

namespace {

std::vector<int64_t> numbers(std::span<const LaunchExpression> expressions) {
  std::vector<int64_t> result;
  for (const LaunchExpression& expression : expressions) append_numbers(expression, result);
  return result;
}

}  // namespace

Value* make_tensor_map(Builder& builder, const TensorMapPlan& plan, Value* base,
                       const layout::SwizzledTile& tile) {
  std::vector<int64_t> box = {tile.panel_columns(), tile.rows};
  box.resize(plan.sizes.size(), 1);
  return builder.create_typed(Opcode::kTensorMap, {base}, Type::number(DType::kInt32),
                              {{AttributeName::kAddress, numbers(std::span(&plan.address, 1))},
                               {AttributeName::kSizes, numbers(plan.sizes)},
                               {AttributeName::kStrides, numbers(plan.strides)},
                               {AttributeName::kBox, std::move(box)},
                               {AttributeName::kSwizzle, tile.row_bytes()}});
}

Value* coordinate(Builder& builder, Value* scalar) {
  const Type& type = scalar->type();
  if (byte_size(type.dtype()) == 8) {
    Value* low = builder.integer(type, std::numeric_limits<int32_t>::min());
    Value* high = builder.integer(type, std::numeric_limits<int32_t>::max());
    scalar = builder.create(Opcode::kMin, {scalar, high});
    if (is_signed(type.dtype())) scalar = builder.create(Opcode::kMax, {scalar, low});
  }
  return builder.cast(scalar, DType::kInt32);
}

}  // namespace enceladus::simt
