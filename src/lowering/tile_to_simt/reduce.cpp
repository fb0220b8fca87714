// Reductions: first in each thread's registers, then over the lanes of a warp by shuffles, then,
// where warps split the axis, one exchange of the warps' parts through shared memory, after which
// lanes that would hold copies reduce them side by side.
#include <algorithm>

#include "lowering/tile_to_simt/combine.h"
#include "lowering/tile_to_simt/lowering.h"
#include "lowering/tile_to_simt/warp_parts.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::AttributeName;
using ir::CombineKind;
using ir::Opcode;
using ir::Operation;
using ir::Value;

namespace {

// The layout with the bits on the axis at `dim` made free.
LinearLayout without_bits(const LinearLayout& layout, Dim dim, int axis) {
  std::array<std::vector<TileBit>, 3> bits = {
      images(layout, Dim::kRegister), images(layout, Dim::kLane), images(layout, Dim::kWarp)};
  for (TileBit& bit : bits[static_cast<size_t>(dim)])
    if (is_on(bit, axis)) bit = {};
  if (dim == Dim::kRegister) std::erase_if(bits[0], [](const TileBit& bit) { return bit.none(); });
  return make_layout(shape_of(layout), bits[0], bits[1], bits[2]);
}

// Registers whose number has bit `bit` clear (or set), in order.
std::vector<int64_t> half(int64_t registers, int bit, int64_t set) {
  std::vector<int64_t> map;
  for (int64_t r = 0; r < registers; ++r)
    if ((r >> bit & 1) == set) map.push_back(r);
  return map;
}

}  // namespace

void Lowering::reduce_registers(const Operation& op, Reduction& state) {
  for (int bit = register_bits(state.layout); bit-- > 0;) {
    if (!is_on(image(state.layout, Dim::kRegister, bit), state.axis)) continue;
    Values low, high;
    for (Value* value : state.values) {
      int64_t count = value->type().elements();
      low.push_back(registers(value, half(count, bit, 0)));
      high.push_back(registers(value, half(count, bit, 1)));
    }
    state.values = combined(op, low, high);
    std::vector<TileBit> kept = images(state.layout, Dim::kRegister);
    kept.erase(kept.begin() + bit);
    state.layout = make_layout(shape_of(state.layout), kept, images(state.layout, Dim::kLane),
                               images(state.layout, Dim::kWarp));
  }
}

void Lowering::reduce_lanes(const Operation& op, Reduction& state) {
  std::vector<TileBit> lanes = images(state.layout, Dim::kLane);
  auto on_axis = [&](const TileBit& bit) { return is_on(bit, state.axis); };
  int64_t kind = op.integer(AttributeName::kCombine);
  if (std::ranges::all_of(lanes, on_axis) &&
      target_.has_warp_reduction(static_cast<CombineKind>(kind), state.values[0]->type().dtype())) {
    state.values = {
        builder_.create(Opcode::kWarpReduce, {state.values[0]}, {{AttributeName::kCombine, kind}})};
    state.layout = without_bits(state.layout, Dim::kLane, state.axis);
    return;
  }
  for (int bit = 0; bit < kLaneBits; ++bit) {
    if (!on_axis(lanes[static_cast<size_t>(bit)])) continue;
    Values others;
    for (Value* value : state.values) others.push_back(shuffle_xor(value, int64_t{1} << bit));
    state.values = combine_across(op, state.values, others, bit);
  }
  state.layout = without_bits(state.layout, Dim::kLane, state.axis);
}

// Both lanes of a pair take the lower lane's values as the left ones, so that they agree.
Values Lowering::combine_across(const Operation& op, const Values& own, const Values& other,
                                int bit) {
  if (!is_sided(op, target_)) return combined(op, own, other);
  Value* is_lower = builder_.create_typed(
      Opcode::kOwner, {}, ir::Type::number(DType::kInt1),
      {{AttributeName::kLaneMask, int64_t{1} << bit}, {AttributeName::kWarpMask, int64_t{0}}});
  is_lower = splat(is_lower, own.front()->type());
  Values left, right;
  for (size_t i = 0; i < own.size(); ++i) {
    left.push_back(builder_.create(Opcode::kSelect, {own[i], other[i], is_lower}));
    right.push_back(builder_.create(Opcode::kSelect, {other[i], own[i], is_lower}));
  }
  return combined(op, left, right);
}

Values Lowering::combined(const Operation& op, const Values& left, const Values& right) {
  return combine(builder_, [this](const Value* value) { return scalar(value); }, op, left, right);
}

Value* Lowering::shuffle_xor(Value* value, int64_t mask) {
  DType dtype = value->type().dtype();
  Value* moved = is_bool(dtype) ? builder_.cast(value, DType::kInt32) : value;
  moved = builder_.create(Opcode::kShuffleXor, {moved}, {{AttributeName::kMask, mask}});
  return builder_.cast(moved, dtype);
}

void Lowering::reduce(const Operation& op) {
  Reduction state;
  state.layout = assignment_.access_layout(op);
  state.axis = static_cast<int>(op.integer(AttributeName::kAxis));
  for (const Value* operand : op.operands()) state.values.push_back(pull(operand, state.layout));
  builder_.set_location_of(&op);
  // argmax and argmin carry the index along.
  if (op.result_count() > op.operand_count())
    state.values.push_back(coordinates(state.layout, state.axis));
  reduce_registers(op, state);
  reduce_lanes(op, state);
  bool across_warps = std::ranges::any_of(
      images(state.layout, Dim::kWarp), [&](const TileBit& bit) { return is_on(bit, state.axis); });
  if (across_warps) {
    LinearLayout parts = renumbered(state.layout, state.axis);
    state.layout = axis_on_free_lanes(parts, state.axis);
    for (Value*& value : state.values) value = convert(value, parts, state.layout);
    reduce_registers(op, state);
    reduce_lanes(op, state);
  }
  for (int i = 0; i < op.result_count(); ++i) {
    Value* array = state.values[static_cast<size_t>(i)];
    if (op.result(i)->type().rank() > 0)
      set_tile(op.result(i), array);
    else
      set_scalar(op.result(i),
                 builder_.create_typed(Opcode::kElement, {array}, array->type().element(),
                                       {{AttributeName::kIndex, int64_t{0}}}));
  }
}

}  // namespace enceladus::simt
