#include <bit>

#include "layout/conversion.h"
#include "lowering/tile_to_simt/lowering.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::Attribute;
using ir::AttributeName;
using ir::Opcode;
using ir::Type;
using ir::Value;

namespace {

// More than this is no cheaper than shared memory.
constexpr int kMostShuffles = 16;

}  // namespace

Value* Lowering::linear(const Bases& bases) {
  Type type = Type::number(DType::kInt32);
  int64_t registers = int64_t{1} << bases.registers.size();
  type = type.with_shape(std::span(&registers, 1));
  if (bases.registers.empty()) {
    Type scalar_type = Type::number(DType::kInt32);
    Value* scalar = builder_.create_typed(Opcode::kLinear, {}, scalar_type,
                                          {{AttributeName::kRegisterBases, std::vector<int64_t>()},
                                           {AttributeName::kLaneBases, bases.lanes},
                                           {AttributeName::kWarpBases, bases.warps}});
    return splat(scalar, type);
  }
  return builder_.create_typed(Opcode::kLinear, {}, type,
                               {{AttributeName::kRegisterBases, bases.registers},
                                {AttributeName::kLaneBases, bases.lanes},
                                {AttributeName::kWarpBases, bases.warps}});
}

Value* Lowering::coordinates(const LinearLayout& layout, int axis) {
  return linear(coordinate_bases(layout, axis));
}

Value* Lowering::registers(Value* array, std::vector<int64_t> map) {
  int64_t count = static_cast<int64_t>(map.size());
  Type type = array->type().with_shape(std::span(&count, 1));
  return builder_.create_typed(Opcode::kRegisters, {array}, type,
                               {{AttributeName::kRegisterMap, std::move(map)}});
}

Value* Lowering::convert(Value* array, const LinearLayout& from, const LinearLayout& to) {
  layout::Conversion conversion = layout::classify(from, to);
  switch (conversion.kind) {
    case layout::ConversionKind::kNone:
      return array;
    case layout::ConversionKind::kRegisters: {
      std::vector<int64_t> map;
      for (int r = 0; r < register_count(to); ++r) {
        uint64_t source =
            conversion.pull.apply(static_cast<uint64_t>(r) << to.in().offset(Dim::kRegister));
        map.push_back(from.in().coordinate(source, Dim::kRegister));
      }
      return registers(array, std::move(map));
    }
    case layout::ConversionKind::kShuffle: {
      Value* moved = convert_by_shuffles(array, from, to, conversion.pull);
      return moved ? moved : convert_through_shared(array, from, to);
    }
    case layout::ConversionKind::kShared:
      return convert_through_shared(array, from, to);
  }
  return array;
}

// Which lane a register comes from is a linear function of the target's lane and register; which
// register there may depend on some bits of the target's lane: then each candidate is moved and the
// lane chooses. Null where that takes too many shuffles.
Value* Lowering::convert_by_shuffles(Value* array, const LinearLayout& from, const LinearLayout& to,
                                     const LinearLayout& pull) {
  auto source = [&](uint64_t packed, Dim dim) { return from.in().coordinate(packed, dim); };
  for (int bit = 0; bit < warp_bits(to); ++bit) {
    uint64_t basis = pull.basis_of(Dim::kWarp, bit);
    if (source(basis, Dim::kRegister) || source(basis, Dim::kLane)) return nullptr;
  }
  std::vector<int64_t> lane_bases;
  std::vector<std::pair<int, int64_t>> choosers;  // lane bits and what they flip of the register
  for (int bit = 0; bit < kLaneBits; ++bit) {
    uint64_t basis = pull.basis_of(Dim::kLane, bit);
    lane_bases.push_back(source(basis, Dim::kLane));
    if (int64_t flips = source(basis, Dim::kRegister)) choosers.emplace_back(bit, flips);
  }
  int count = register_count(to);
  if (count << choosers.size() > kMostShuffles) return nullptr;
  std::vector<int64_t> registers_of, lanes_of;
  for (int r = 0; r < count; ++r) {
    uint64_t packed = pull.apply(static_cast<uint64_t>(r) << to.in().offset(Dim::kRegister));
    registers_of.push_back(source(packed, Dim::kRegister));
    lanes_of.push_back(source(packed, Dim::kLane));
  }
  Values candidates;
  for (size_t chosen = 0; chosen < size_t{1} << choosers.size(); ++chosen) {
    std::vector<int64_t> map = registers_of;
    for (size_t i = 0; i < choosers.size(); ++i)
      if (chosen >> i & 1)
        for (int64_t& r : map) r ^= choosers[i].second;
    candidates.push_back(shuffled_registers(array, map, lanes_of, lane_bases));
  }
  for (const auto& [bit, flips] : choosers) {
    Value* is_clear = builder_.create_typed(
        Opcode::kOwner, {}, Type::number(DType::kInt1),
        {{AttributeName::kLaneMask, int64_t{1} << bit}, {AttributeName::kWarpMask, int64_t{0}}});
    is_clear = splat(is_clear, candidates.front()->type());
    Values kept;
    for (size_t i = 0; i < candidates.size(); i += 2)
      kept.push_back(
          builder_.create(Opcode::kSelect, {candidates[i], candidates[i + 1], is_clear}));
    candidates = std::move(kept);
  }
  return candidates.front();
}

// Register map[i] of the lane that `lane_bases` and lanes[i] name; registers of one lane[i] move
// together.
Value* Lowering::shuffled_registers(Value* array, const std::vector<int64_t>& map,
                                    const std::vector<int64_t>& lanes,
                                    const std::vector<int64_t>& lane_bases) {
  std::vector<int64_t> place(map.size());
  Values parts;
  int64_t next = 0;
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    std::vector<int64_t> together;
    for (size_t i = 0; i < map.size(); ++i) {
      if (lanes[i] != lane) continue;
      place[i] = next++;
      together.push_back(map[i]);
    }
    if (!together.empty())
      parts.push_back(shuffle(registers(array, std::move(together)), lane_bases, lane));
  }
  if (parts.size() == 1) return parts.front();
  Type type = parts.front()->type().with_shape(std::span(&next, 1));
  Value* all = builder_.create(Opcode::kPack, parts, std::span(&type, 1))->result();
  return registers(all, std::move(place));
}

Value* Lowering::shared_buffer(int64_t bytes) {
  return builder_.create_typed(Opcode::kSharedBuffer, {}, Type::number(DType::kInt32),
                               {{AttributeName::kBytes, bytes}});
}

Value* Lowering::convert_through_shared(Value* array, const LinearLayout& from,
                                        const LinearLayout& to) {
  DType dtype = array->type().dtype();
  ENC_CHECK(array->type().is_number(), "pointers do not move through shared memory");
  if (target_.has_matrix_loads)
    if (Value* loaded = convert_by_matrix_loads(array, from, to)) return loaded;
  Value* stored = widened(array);
  int bytes = byte_size(stored->type().dtype());
  layout::SharedLayout placement = layout::choose_shared_layout(from, to, {.element_bytes = bytes});
  Value* buffer = shared_buffer(from.out().size() * bytes);
  auto vector = [&](const LinearLayout& side) {
    int bits = layout::contiguous_register_bits(side, placement.memory, placement.vector_bits);
    return Attribute{AttributeName::kVector, int64_t{1} << bits};
  };
  Value* offsets = linear(offset_bases(from, placement.memory));
  Value* mask = owned_mask(from, nullptr, stored->type());
  builder_.create(Opcode::kSharedStore, Values{buffer, offsets, stored, mask}, {}, {vector(from)});
  Value* loaded = builder_.create_typed(Opcode::kSharedLoad,
                                        {buffer, linear(offset_bases(to, placement.memory))},
                                        array_type(stored->type(), to), {vector(to)});
  return narrowed(loaded, dtype);
}

Value* Lowering::owner(const LinearLayout& layout) {
  int64_t lanes = free_lanes(layout), warps = free_warps(layout);
  if (lanes == 0 && warps == 0) return nullptr;
  return builder_.create_typed(
      Opcode::kOwner, {}, Type::number(DType::kInt1),
      {{AttributeName::kLaneMask, lanes}, {AttributeName::kWarpMask, warps}});
}

Value* Lowering::owned_mask(const LinearLayout& layout, Value* mask, const Type& like) {
  Value* owns = owner(layout);
  if (!owns) return mask;
  owns = splat(owns, like);
  return mask ? builder_.create(Opcode::kAnd, {mask, owns}) : owns;
}

Value* Lowering::widened(Value* value) {
  return value->type().is_bool() ? builder_.cast(value, DType::kUInt8) : value;
}

Value* Lowering::narrowed(Value* value, DType dtype) { return builder_.cast(value, dtype); }

}  // namespace enceladus::simt
