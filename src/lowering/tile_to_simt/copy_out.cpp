// Stores of a product's result by the copy engine: each group writes a panel of its part to shared
// memory as the engine wants it, then one thread starts the copy, while the next panel goes to
// another buffer. Bounds are the engine's.
#include "ir/builder.h"
#include "lowering/tile_to_simt/hopper_parts.h"
#include "lowering/tile_to_simt/lowering.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

namespace {

constexpr int64_t kPanelBuffers = 2;  // of a group
constexpr int kPairBits = 2;          // of registers: two columns, two rows
constexpr int kMatrixBits = 3;

// Where each lane's row of four 8x8 matrices of 16-bit elements lies: layout -> panel. Two of the
// matrices are 8 rows apart, the next two 8 columns.
LinearLayout row_places(const layout::SwizzledTile& panel) {
  std::vector<TileBit> registers;
  for (int bit = 4; bit < log2_of(panel.columns); ++bit) registers.push_back({1, bit});
  for (int bit = log2_of(kGroupRows); bit < log2_of(panel.rows); ++bit)
    registers.push_back({0, bit});
  const std::vector<TileBit> lanes = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 3}};
  const std::vector<TileBit> warps = {{0, 4}, {0, 5}};
  return make_layout(std::vector<int64_t>{panel.rows, panel.columns}, registers, lanes, warps);
}

// Where each pair of 32-bit registers lies, in the order of the product's registers.
LinearLayout pair_places(const layout::SwizzledTile& panel) {
  std::vector<TileBit> registers = {{0, 3}};
  for (int bit = 3; bit < log2_of(panel.columns); ++bit) registers.push_back({1, bit});
  for (int bit = log2_of(kGroupRows); bit < log2_of(panel.rows); ++bit)
    registers.push_back({0, bit});
  const std::vector<TileBit> lanes = {{1, 1}, {1, 2}, {0, 0}, {0, 1}, {0, 2}};
  const std::vector<TileBit> warps = {{0, 4}, {0, 5}};
  return make_layout(std::vector<int64_t>{panel.rows, panel.columns}, registers, lanes, warps);
}

// The registers of a panel among those of the whole result.
std::vector<int64_t> panel_registers(const GroupTile& group, const layout::SwizzledTile& panel,
                                     int64_t index) {
  int low = log2_of(panel.columns) - kMatrixBits + kPairBits;
  int middle = log2_of(group.columns / panel.columns);
  int64_t count = panel.rows * panel.columns / (kGroupWarps * kLanes);
  std::vector<int64_t> map;
  for (int64_t r = 0; r < count; ++r)
    map.push_back((r & ((int64_t{1} << low) - 1)) | index << low | r >> low << (low + middle));
  return map;
}

}  // namespace

bool Lowering::copy_out(const Operation& op) {
  auto store = hopper_.stores.find(&op);
  if (store == hopper_.stores.end()) return false;
  const Type& type = op.operand(1)->type();
  std::optional<GroupTile> group =
      group_tile(type.extent(0), type.extent(1), assignment_.warp_bits());
  if (!group) return false;
  LinearLayout layout = wgmma_layout(type.shape(), *group, assignment_.warp_bits());
  std::optional<layout::SwizzledTile> tile =
      layout::swizzled_tile(group->rows, group->columns, byte_size(type.dtype()));
  if (!tile || assignment_.preferred(op.operand(1)) != layout) return false;
  Value* values = pull(op.operand(1), layout);
  report_.engines[&op] = "TMA";
  builder_.set_location_of(&op);
  layout::SwizzledTile panel{tile->rows, tile->panel_columns(), tile->element_bytes};
  int64_t buffers = std::min(kPanelBuffers, tile->panels());
  CopyOut out;
  out.panel = panel;
  out.buffers = buffers;
  builder_.set_insertion_before(roles_);
  out.map = make_tensor_map(builder_, store->second,
                            scalar(tile_.body().argument(store->second.parameter)), panel);
  out.buffer =
      builder_.create_typed(Opcode::kSharedBuffer, {}, Type::number(DType::kInt32),
                            {{AttributeName::kBytes, hopper_.groups * buffers * panel.bytes()},
                             {AttributeName::kAlignment, kPanelAlignment}});
  place_at(level_);
  for (const Value* at : store->second.coordinates)
    out.coordinates.push_back(coordinate(builder_, scalar(at)));
  if (hopper_.groups > 1) {
    size_t axis = group->splits_columns ? 0 : 1;
    Value* part = group_number(group->splits_columns ? group->columns : group->rows);
    out.coordinates[axis] = builder_.create(Opcode::kAdd, {out.coordinates[axis], part});
  }
  for (int64_t index = 0; index < tile->panels(); ++index)
    copy_panel_out(out, registers(values, panel_registers(*group, panel, index)), index);
  copies_out_ = true;
  return true;
}

void Lowering::copy_panel_out(const CopyOut& out, Value* values, int64_t index) {
  const layout::SwizzledTile& panel = out.panel;
  int64_t elements = panel.rows * panel.columns, buffer = index % out.buffers;
  bool is_wide = panel.element_bytes == 4;
  LinearLayout places = is_wide ? pair_places(panel) : row_places(panel);
  Bases bases = offset_bases(places, layout::memory_layout(panel));
  if (hopper_.groups > 1) bases.warps.push_back(out.buffers * elements);
  Type i32 = Type::number(DType::kInt32);
  auto plus = [&](Value* value, int64_t number) {
    if (number == 0) return value;
    return builder_.create(Opcode::kAdd, {value, builder_.integer(value->type(), number)});
  };
  simt_statement(Opcode::kCopyOutWait, {}, {{AttributeName::kPending, out.buffers - 1}});
  simt_statement(Opcode::kGroupBarrier, {});
  simt_statement(is_wide ? Opcode::kStorePairs : Opcode::kStoreMatrix,
                 {out.buffer, plus(linear(bases), buffer * elements), values});
  simt_statement(Opcode::kAsyncFence, {});
  simt_statement(Opcode::kGroupBarrier, {});
  Value* place = builder_.integer(i32, buffer * panel.bytes());
  if (hopper_.groups > 1)
    place = builder_.create(Opcode::kAdd, {group_number(out.buffers * panel.bytes()), place});
  Values operands = {out.map, out.buffer, place};
  operands.insert(operands.end(), out.coordinates.begin(), out.coordinates.end());
  operands[3] = plus(out.coordinates.front(), index * panel.columns);
  builder_.create(Opcode::kCopyOut, operands, {});
}

}  // namespace enceladus::simt
