#include "lowering/tile_to_simt/hopper_parts.h"

#include <limits>

namespace enceladus::simt {

using ir::AttributeName;
using ir::Builder;
using ir::Opcode;
using ir::Type;
using ir::Value;

namespace {

constexpr int64_t kProgramsAGroup = 8;  // of axis 1, walked together for the sake of the L2 cache

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

// Within a group of rows (axis 1) the row is fastest, so that the programs that run at once use few
// rows and few columns. Axis 0 runs from its end: where the work grows with it, as in causal
// attention, what takes longest comes first.
GridWalk open_grid_walk(Builder& builder) {
  Type i32 = Type::number(DType::kInt32);
  auto resident = [&](const char* what) {
    return builder.create_typed(Opcode::kResident, {}, i32,
                                {{AttributeName::kResident, std::string(what)}});
  };
  auto extent = [&](int64_t axis) {
    return builder.create_typed(Opcode::kNumPrograms, {}, i32, {{AttributeName::kAxis, axis}});
  };
  auto make = [&](Opcode opcode, Value* a, Value* b) { return builder.create(opcode, {a, b}); };
  Value* columns = extent(0);
  Value* rows = extent(1);
  Value* plane = make(Opcode::kMul, columns, rows);
  Value* total = make(Opcode::kMul, plane, extent(2));
  Value* group_rows = builder.integer(i32, kProgramsAGroup);
  Value* group = make(Opcode::kMul, columns, group_rows);
  GridWalk walk;
  walk.loop = builder.for_loop(resident("id"), total, resident("count"), {});
  builder.set_insertion_at_end(walk.loop->region(0));
  Value* place = walk.loop->region(0)->argument(0);
  walk.program[2] = make(Opcode::kDiv, place, plane);
  Value* in_plane = make(Opcode::kRem, place, plane);
  Value* first = make(Opcode::kMul, make(Opcode::kDiv, in_plane, group), group_rows);
  Value* in_group = make(Opcode::kRem, in_plane, group);
  Value* size = make(Opcode::kMin, make(Opcode::kSub, rows, first), group_rows);
  walk.program[1] = make(Opcode::kAdd, make(Opcode::kRem, in_group, size), first);
  Value* last = make(Opcode::kSub, columns, builder.integer(i32, 1));
  walk.program[0] = make(Opcode::kSub, last, make(Opcode::kDiv, in_group, size));
  return walk;
}

}  // namespace enceladus::simt
