// Scans: an inclusive prefix along an axis, for any place of the axis's bits in registers and
// lanes.
//
// Bit by bit from the lowest, each element whose bit is set takes in the end of the block before
// its own: the element with that bit clear and all lower ones set. Warps have the upper bits of the
// axis (scan_layout); their blocks' ends go once through shared memory. A reversed scan looks at
// the blocks behind instead.
#include <algorithm>
#include <functional>

#include "lowering/tile_to_simt/lowering.h"
#include "lowering/tile_to_simt/warp_parts.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

// Where the axis's bits are: a register's or lane's bit for each, from the lowest.
struct Lowering::Scan {
  LinearLayout layout;
  int axis;
  bool reverse;
  Values values;
  struct Place {
    Dim dim;
    int bit;
  };
  std::vector<Place> places;
  // Masks of the registers and lanes that carry the lowest `bits` of them.
  int64_t registers_below(int bits) const { return mask(Dim::kRegister, bits); }
  int64_t lanes_below(int bits) const { return mask(Dim::kLane, bits); }
  int64_t mask(Dim dim, int bits) const {
    int64_t result = 0;
    for (int i = 0; i < bits; ++i) {
      const Place& place = places[static_cast<size_t>(i)];
      if (place.dim == dim) result |= int64_t{1} << place.bit;
    }
    return result;
  }
};

Value* Lowering::shuffle(Value* value, std::vector<int64_t> lane_bases, int64_t lane) {
  DType dtype = value->type().dtype();
  Value* moved = is_bool(dtype) ? builder_.cast(value, DType::kInt32) : value;
  moved = builder_.create(
      Opcode::kShuffle, {moved},
      {{AttributeName::kLaneBases, std::move(lane_bases)}, {AttributeName::kLane, lane}});
  return builder_.cast(moved, dtype);
}

// For each of `chosen` registers the end of the neighbouring block below (or, reversed, the start
// of that above) bit `bit` of the axis; the bit is the number of places for the whole warp's end.
Value* Lowering::block_ends(Value* value, const Scan& state, int bit,
                            const std::vector<int64_t>& chosen) {
  int64_t registers_mask = state.registers_below(bit), lanes_mask = state.lanes_below(bit);
  bool is_inner = bit < static_cast<int>(state.places.size());
  int64_t own_register = 0, own_lane = 0;
  if (is_inner) {
    const Scan::Place& place = state.places[static_cast<size_t>(bit)];
    (place.dim == Dim::kRegister ? own_register : own_lane) = int64_t{1} << place.bit;
  }
  std::vector<int64_t> map;
  for (int64_t r : chosen)
    map.push_back(state.reverse ? (r & ~registers_mask) | own_register
                                : (r | registers_mask) & ~own_register);
  if (lanes_mask == 0 && own_lane == 0) return registers(value, map);
  std::vector<int64_t> bases;
  for (int i = 0; i < kLaneBits; ++i) {
    int64_t lane = int64_t{1} << i;
    bases.push_back(((lanes_mask | own_lane) & lane) ? 0 : lane);
  }
  // One shuffle an end, however many registers take it in.
  std::vector<int64_t> distinct, place;
  for (int64_t end : map) {
    auto found = std::ranges::find(distinct, end);
    place.push_back(found - distinct.begin());
    if (found == distinct.end()) distinct.push_back(end);
  }
  Value* ends = shuffle(registers(value, distinct), bases, state.reverse ? own_lane : lanes_mask);
  return registers(ends, place);
}

void Lowering::scan_registers(const Operation& op, Scan& state, int bit) {
  int place = state.places[static_cast<size_t>(bit)].bit;
  int64_t count = register_count(state.layout);
  std::vector<int64_t> taking, keeping, order(static_cast<size_t>(count));
  for (int64_t r = 0; r < count; ++r) {
    bool takes = (r >> place & 1) != (state.reverse ? 1 : 0);
    std::vector<int64_t>& list = takes ? taking : keeping;
    order[static_cast<size_t>(r)] = static_cast<int64_t>(list.size()) + (takes ? count / 2 : 0);
    list.push_back(r);
  }
  Values ends, own;
  for (Value* value : state.values) {
    ends.push_back(block_ends(value, state, bit, taking));
    own.push_back(registers(value, taking));
  }
  Values results = combined(op, ends, own);
  for (size_t i = 0; i < results.size(); ++i) {
    Value* kept = registers(state.values[i], keeping);
    Value* packed =
        builder_.create_typed(Opcode::kPack, {kept, results[i]}, state.values[i]->type());
    state.values[i] = registers(packed, order);
  }
}

void Lowering::scan_lanes(const Operation& op, Scan& state, int bit) {
  std::vector<int64_t> all;
  for (int64_t r = 0; r < register_count(state.layout); ++r) all.push_back(r);
  Values ends;
  for (Value* value : state.values) ends.push_back(block_ends(value, state, bit, all));
  Values results = combined(op, ends, state.values);
  int64_t lane = int64_t{1} << state.places[static_cast<size_t>(bit)].bit;
  Value* is_clear = builder_.create_typed(
      Opcode::kOwner, {}, ir::Type::number(DType::kInt1),
      {{AttributeName::kLaneMask, lane}, {AttributeName::kWarpMask, int64_t{0}}});
  is_clear = splat(is_clear, state.values.front()->type());
  for (size_t i = 0; i < results.size(); ++i) {
    Value* first = state.reverse ? results[i] : state.values[i];
    Value* second = state.reverse ? state.values[i] : results[i];
    state.values[i] = builder_.create(Opcode::kSelect, {first, second, is_clear});
  }
}

// The ends of all warps' parts go to every warp, which combines those before its own.
void Lowering::scan_across_warps(const Operation& op, Scan& state) {
  CompactLayout rest = without_free_registers(keep_warps_of_axis(state.layout, state.axis));
  LinearLayout parts = renumbered(rest.layout, state.axis);
  int64_t rest_count = register_count(rest.layout);
  std::vector<int64_t> chosen(static_cast<size_t>(rest_count));
  for (size_t r = rest.map.size(); r-- > 0;)
    chosen[static_cast<size_t>(rest.map[r])] = static_cast<int64_t>(r);
  LinearLayout gathered = axis_in_registers(parts, state.axis);
  int64_t warps = shape_of(parts)[static_cast<size_t>(state.axis)];
  std::vector<Values> part(static_cast<size_t>(warps));
  for (Value* value : state.values) {
    Value* ends = block_ends(value, state, static_cast<int>(state.places.size()), chosen);
    Value* all = convert(ends, parts, gathered);
    for (int64_t w = 0; w < warps; ++w) {
      std::vector<int64_t> map;
      for (int64_t r = 0; r < rest_count; ++r) map.push_back(r + w * rest_count);
      part[static_cast<size_t>(state.reverse ? warps - 1 - w : w)].push_back(registers(all, map));
    }
  }
  Bases bases = coordinate_bases(parts, state.axis);
  Value* position = linear({{}, {}, bases.warps});
  if (position->type().rank() > 0)
    position = builder_.create_typed(Opcode::kElement, {position}, position->type().element(),
                                     {{AttributeName::kIndex, int64_t{0}}});
  if (state.reverse)
    position =
        builder_.create(Opcode::kSub, {builder_.integer(position->type(), warps - 1), position});
  Values running = part[0], before = part[0];
  auto is_from = [&](int64_t w, const ir::Type& like) {
    Value* at = builder_.create(Opcode::kGe, {position, builder_.integer(position->type(), w)});
    return splat(at, like);
  };
  for (int64_t w = 2; w < warps; ++w) {
    running = combined(op, running, part[static_cast<size_t>(w - 1)]);
    for (size_t i = 0; i < before.size(); ++i)
      before[i] =
          builder_.create(Opcode::kSelect, {running[i], before[i], is_from(w, before[i]->type())});
  }
  Values spread;
  for (Value* value : before) spread.push_back(registers(value, rest.map));
  Values results = combined(op, spread, state.values);
  for (size_t i = 0; i < results.size(); ++i)
    state.values[i] = builder_.create(
        Opcode::kSelect, {results[i], state.values[i], is_from(1, results[i]->type())});
}

void Lowering::scan(const Operation& op) {
  Scan state;
  state.layout = assignment_.access_layout(op);
  state.axis = static_cast<int>(op.integer(AttributeName::kAxis));
  state.reverse = op.integer_or(AttributeName::kReverse, 0) != 0;
  for (const Value* operand : op.operands()) state.values.push_back(pull(operand, state.layout));
  builder_.set_location_of(&op);
  int bits = log2_of(op.operand(0)->type().extent(state.axis));
  bool across_warps = false;
  for (int bit = 0; bit < bits; ++bit) {
    std::optional<AxisPlace> place = place_of(state.layout, state.axis, bit);
    ENC_CHECK(place.has_value());
    if (place->dim == Dim::kWarp)
      across_warps = true;
    else
      state.places.push_back({place->dim, place->bit});
  }
  for (int bit = 0; bit < static_cast<int>(state.places.size()); ++bit) {
    if (state.places[static_cast<size_t>(bit)].dim == Dim::kRegister)
      scan_registers(op, state, bit);
    else
      scan_lanes(op, state, bit);
  }
  if (across_warps) scan_across_warps(op, state);
  for (int i = 0; i < op.result_count(); ++i)
    set_tile(op.result(i), state.values[static_cast<size_t>(i)]);
}

}  // namespace enceladus::simt
