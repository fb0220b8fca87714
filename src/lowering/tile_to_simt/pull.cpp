#include <algorithm>

#include "lowering/tile_to_simt/lowering.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::AttributeName;
using ir::OpClass;
using ir::Opcode;
using ir::Operation;
using ir::Value;

namespace {

const ir::Region* region_of(const Value* value) {
  return value->definition() ? value->definition()->parent() : value->argument_of();
}

bool is_identity(const std::vector<int64_t>& map, int64_t registers) {
  if (static_cast<int64_t>(map.size()) != registers) return false;
  for (size_t i = 0; i < map.size(); ++i)
    if (map[i] != static_cast<int64_t>(i)) return false;
  return true;
}

}  // namespace

size_t Lowering::layout_id(const LinearLayout& layout) {
  for (size_t i = 0; i < layouts_.size(); ++i)
    if (layouts_[i] == layout) return i;
  layouts_.push_back(layout);
  return layouts_.size() - 1;
}

Value* Lowering::pull(const Value* tile, const LinearLayout& layout) {
  std::pair<uint32_t, size_t> key{tile->id(), layout_id(layout)};
  auto found = arrays_.find(key);
  if (found != arrays_.end()) return found->second;
  Placement placement(*this, region_of(tile));
  const LinearLayout* home = assignment_.home(tile);
  Value* result = nullptr;
  if (home) {
    auto at_home = arrays_.find({tile->id(), layout_id(*home)});
    ENC_CHECK(at_home != arrays_.end(), "a tile is used before it is lowered");
    result = convert(at_home->second, *home, layout);
    layout::ConversionKind kind = layout::classify(*home, layout).kind;
    if (kind != layout::ConversionKind::kNone)
      report_.conversions.push_back({tile, builder_.location(), kind});
  } else {
    ENC_CHECK(tile->definition() != nullptr);
    builder_.set_location_of(tile->definition());
    result = recompute_once(*tile->definition(), layout);
    if (!result) result = recompute(*tile->definition(), layout);
  }
  if (result->name().empty()) result->set_name(tile->name());
  return arrays_[key] = result;
}

Value* Lowering::pull_copies(const Value* tile, const LinearLayout& layout) {
  CompactLayout compact = without_free_registers(layout);
  Value* array = pull(tile, compact.layout);
  if (is_identity(compact.map, array->type().elements())) return array;
  return registers(array, std::move(compact.map));
}

Value* Lowering::recompute_once(const Operation& op, const LinearLayout& layout) {
  if (op.record().op_class != OpClass::kElementwise || !op.result()->type().is_bool())
    return nullptr;
  analysis::AxisInfo info = facts_.axis_info(op.result());
  std::vector<TileBit> bits = images(layout, Dim::kRegister);
  bool any = false;
  for (TileBit& bit : bits) {
    if (bit.none() || info.axis(bit.axis).constancy < int64_t{2} << bit.bit) continue;
    bit = {};
    any = true;
  }
  if (!any || !is_recomputed(op)) return nullptr;
  CompactLayout compact = without_free_registers(
      make_layout(shape_of(layout), bits, images(layout, Dim::kLane), images(layout, Dim::kWarp)));
  return registers(recompute(op, compact.layout), std::move(compact.map));
}

// Whether no part of the value was left in a layout of its own.
bool Lowering::is_recomputed(const Operation& op) const {
  return std::ranges::all_of(op.operands(), [&](const Value* operand) {
    if (!operand || !operand->type().is_tile()) return true;
    const Operation* made = operand->definition();
    if (!made || assignment_.home(operand) || made->is(Opcode::kStageLoad)) return false;
    return is_recomputed(*made);
  });
}

Value* Lowering::recompute(const Operation& op, const LinearLayout& layout) {
  ir::Type type = array_type(op.result()->type(), layout);
  switch (op.opcode()) {
    case Opcode::kConstant:
      return builder_.constant_bits(type, static_cast<uint64_t>(op.integer(AttributeName::kBits)));
    case Opcode::kArange: {
      Value* index = coordinates(layout, 0);
      int64_t start = op.integer(AttributeName::kStart);
      if (start == 0) return index;
      return builder_.create(Opcode::kAdd, {index, builder_.integer(index->type(), start)});
    }
    case Opcode::kStageLoad:
      return stage_load(op, layout);
    default:
      break;
  }
  if (op.record().op_class == OpClass::kShape) return recompute_shape(op, layout);
  ENC_CHECK(op.record().op_class == OpClass::kElementwise);
  Values operands;
  for (const Value* operand : op.operands())
    operands.push_back(operand ? pull(operand, layout) : nullptr);
  return apply(op, operands);
}

Value* Lowering::apply(const Operation& op, const Values& operands) {
  ir::Type type = op.result()->type().element();
  if (!operands.empty()) type = type.with_shape(operands.front()->type().shape());
  std::vector<ir::Attribute> attributes(op.attributes().begin(), op.attributes().end());
  if (op.is(Opcode::kHint)) return operands.front();
  return builder_.create(op.opcode(), operands, std::span(&type, 1), std::move(attributes))
      ->result();
}

Value* Lowering::recompute_shape(const Operation& op, const LinearLayout& layout) {
  if (op.is(Opcode::kSplat)) {
    ir::Type type = array_type(op.result()->type(), layout);
    return builder_.create_typed(Opcode::kSplat, {scalar(op.operand(0))}, type);
  }
  return pull_copies(op.operand(0), operand_layout(op, layout));
}

LinearLayout Lowering::operand_layout(const Operation& op, const LinearLayout& layout) const {
  const ir::Type& operand = op.operand(0)->type();
  switch (op.opcode()) {
    case Opcode::kBroadcast:
      return narrow_axes(layout, operand.shape());
    case Opcode::kExpandDims:
      return drop_axis(layout, static_cast<int>(op.integer(AttributeName::kAxis)));
    case Opcode::kReshape:
      return reshape(layout, operand.shape());
    case Opcode::kTranspose:
      return permute(layout, inverse_permutation(op.integers(AttributeName::kPermutation)));
    default:
      ENC_CHECK(false, "no shape operation");
      return layout;
  }
}

}  // namespace enceladus::simt
