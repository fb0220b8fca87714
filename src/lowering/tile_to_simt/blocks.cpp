// Where the elements of a block lie, a descriptor's or one of pointers (pointer_axes.cpp), and
// which of them are inside its array.
//
// Terms are added to the pointer one at a time, those that all threads share and that change least
// often first: what a loop does not change is computed before it, and the hardware's address units
// like such sums. Whether an element is inside is a question of its coordinate within the block,
// compared with how much of the block is left inside: numbers that fit 32 bits whatever the
// offsets are.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "lowering/tile_to_simt/access.h"
#include "lowering/tile_to_simt/lowering.h"
#include "support/check.h"

namespace enceladus::simt {

using analysis::Sum;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

namespace {

bool any(std::span<const int64_t> bases) {
  return std::ranges::any_of(bases, [](int64_t base) { return base != 0; });
}

int first_offset(const Operation& access) { return access.is(Opcode::kDescriptorLoad) ? 1 : 2; }

}  // namespace

// Sizes and offsets as 64-bit numbers never wrap when subtracted from one another; what is left of
// the block lies between 0 and its extent.
Lowering::BlockAxis Lowering::block_axis(const Operation& access, int axis) {
  if (access.operand(0)->type().is_pointer()) return pointer_axis(access, axis);
  const Operation* made = access.operand(0)->definition();
  ENC_CHECK(made && made->is(Opcode::kMakeDescriptor), "a descriptor of unknown origin");
  int rank = access.operand(0)->type().rank();
  const Value* offset = access.operand(first_offset(access) + axis);
  const Value* size = made->operand(1 + axis);
  const Value* stride = made->operand(1 + rank + axis);
  DType index_type = tile_.options().arrays_small ? DType::kInt32 : DType::kInt64;
  BlockAxis result;
  result.axis = axis;
  result.index = index_type;
  result.extent = access.operand(0)->type().extent(axis);
  result.stride_level = level_of(stride);
  result.offset_level = std::max(level_of(offset), result.stride_level);
  if (axis + 1 < rank) {
    Placement placement(*this, result.stride_level);
    result.stride = builder_.cast(scalar(stride), index_type);
  }
  Placement placement(*this, std::max(result.offset_level, level_of(size)));
  std::optional<int64_t> known_offset = ir::constant_integer(offset);
  result.offset = known_offset ? builder_.integer(Type::number(index_type), *known_offset)
                               : builder_.cast(scalar(offset), index_type);
  std::optional<int64_t> known_size = ir::constant_integer(size);
  if (known_offset && known_size && *known_offset >= 0) {
    int64_t left = std::clamp<int64_t>(*known_size - *known_offset, 0, result.extent);
    result.left = builder_.integer(kInt32, left);
    result.inside = left == result.extent ? nullptr : builder_.boolean(false);
    return result;
  }
  Type i64 = Type::number(DType::kInt64);
  Value* wide_offset = builder_.cast(scalar(offset), DType::kInt64);
  Value* wide_size = builder_.cast(scalar(size), DType::kInt64);
  result.left = clamped(builder_.create(Opcode::kSub, {wide_size, wide_offset}), result.extent);
  Value* extent = builder_.integer(kInt32, result.extent);
  result.inside = builder_.create(Opcode::kEq, {result.left, extent});
  if (facts_.range(offset).low >= 0) return result;
  result.first = clamped(builder_.create(Opcode::kSub, {builder_.integer(i64, 0), wide_offset}),
                         result.extent);
  Value* starts = builder_.create(Opcode::kEq, {result.first, builder_.integer(kInt32, 0)});
  result.inside = builder_.create(Opcode::kAnd, {result.inside, starts});
  return result;
}

std::vector<Lowering::BlockAxis> Lowering::block_axes(const Operation& access) {
  std::vector<BlockAxis> axes;
  for (int axis = 0; axis < access.operand(0)->type().rank(); ++axis)
    axes.push_back(block_axis(access, axis));
  return axes;
}

// `number` (a scalar or an array of int32) times the axis's stride, as offsets of a pointer.
Value* Lowering::along(const BlockAxis& axis, Value* number) {
  Value* index = builder_.cast(number, axis.index);
  if (!axis.stride) return index;
  return builder_.create(Opcode::kMul, {index, splat(axis.stride, index->type())});
}

// The block's first element moved by what the thread's lane and warp add along the axes; a term
// that a loop changes comes behind those that it does not.
Value* Lowering::thread_pointer(const Operation& access, const std::vector<BlockAxis>& axes,
                                const std::vector<Bases>& bases) {
  struct Term {
    size_t level;
    const BlockAxis* axis;  // null for part of a sum
    bool is_offset;
    Sum sum = {};
  };
  std::vector<Term> terms;
  const PointerBlock* block =
      access.operand(0)->type().is_pointer() ? pointer_blocks_.of(access) : nullptr;
  if (block)
    for (const auto& [level, sum] : by_level(block->place.base))
      terms.push_back({level, nullptr, true, sum});
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!block && ir::constant_integer(axes[i].offset) != 0)
      terms.push_back({axes[i].offset_level, &axes[i], true});
    if (any(bases[i].lanes) || any(bases[i].warps))
      terms.push_back({axes[i].stride_level, &axes[i], false});
  }
  std::ranges::stable_sort(terms, {}, &Term::level);
  const Value* base = block ? block->place.pointer : access.operand(0)->definition()->operand(0);
  Value* pointer = scalar(base);
  size_t level = level_of(base);
  for (const Term& term : terms) {
    level = std::max(level, term.level);
    Placement placement(*this, level);
    Value* elements = nullptr;
    if (!term.axis)
      elements = sum_value(term.sum, axes.front().index);
    else if (term.is_offset)
      elements = along(*term.axis, term.axis->offset);
    else
      elements = along(*term.axis, thread_part(bases[static_cast<size_t>(term.axis->axis)]));
    pointer = builder_.create(Opcode::kAddPtr, {pointer, elements});
  }
  return pointer;
}

Value* Lowering::thread_part(const Bases& bases) {
  return builder_.create_typed(Opcode::kLinear, {}, kInt32,
                               {{ir::AttributeName::kRegisterBases, std::vector<int64_t>()},
                                {ir::AttributeName::kLaneBases, bases.lanes},
                                {ir::AttributeName::kWarpBases, bases.warps}});
}

// The pointer of each register, from that of the thread's first element.
Value* Lowering::register_pointers(Value* pointer, const std::vector<BlockAxis>& axes,
                                   const std::vector<Bases>& bases) {
  int64_t count = int64_t{1} << bases.front().registers.size();
  Value* pointers = splat(pointer, kInt32.with_shape(std::span(&count, 1)));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!any(bases[i].registers)) continue;
    Value* within = linear({bases[i].registers, std::vector<int64_t>(bases[i].lanes.size()),
                            std::vector<int64_t>(bases[i].warps.size())});
    pointers = builder_.create(Opcode::kAddPtr, {pointers, along(axes[i], within)});
  }
  return pointers;
}

// Which of the coordinates (int32, an array or a scalar) along the axis are inside; null where all
// are.
Value* Lowering::inside_of(const BlockAxis& axis, Value* coordinates) {
  if (!axis.inside) return nullptr;
  const Type& type = coordinates->type();
  Value* inside = builder_.create(Opcode::kLt, {coordinates, splat(axis.left, type)});
  if (!axis.first) return inside;
  Value* starts = builder_.create(Opcode::kGe, {coordinates, splat(axis.first, type)});
  return builder_.create(Opcode::kAnd, {starts, inside});
}

Value* Lowering::both(Value* a, Value* b) {
  if (!a || !b) return a ? a : b;
  return builder_.create(Opcode::kAnd, {a, b});
}

Lowering::BlockAccess Lowering::block_access(const Operation& op, const LinearLayout& layout) {
  BlockAccess access;
  access.axes = block_axes(op);
  for (const BlockAxis& axis : access.axes)
    access.bases.push_back(coordinate_bases(layout, axis.axis));
  access.pointer =
      register_pointers(thread_pointer(op, access.axes, access.bases), access.axes, access.bases);
  for (const BlockAxis& axis : access.axes) {
    access.mask = both(access.mask, inside_of(axis, coordinates(layout, axis.axis)));
    access.all_inside = both(access.all_inside, axis.inside);
  }
  return access;
}

// For each group of registers of a fragment whether all that a warp's lanes hold in them is inside:
// its first and its last coordinate are. `depth`, if any, is added along the axis `depth_axis`.
Value* Lowering::groups_inside(const std::vector<BlockAxis>& axes, const std::vector<Bases>& bases,
                               size_t depth_axis, Value* depth) {
  int group_bits = bases.front().registers.empty() ? 0 : log2_of(kFragmentGroup);
  Value* inside = nullptr;
  for (size_t i = 0; i < axes.size(); ++i) {
    const BlockAxis& axis = axes[i];
    if (!axis.inside) continue;
    auto within = bases[i].registers.begin() + group_bits;
    int64_t last = std::accumulate(bases[i].registers.begin(), within, int64_t{0}) +
                   std::accumulate(bases[i].lanes.begin(), bases[i].lanes.end(), int64_t{0});
    Value* start = linear({{within, bases[i].registers.end()},
                           std::vector<int64_t>(bases[i].lanes.size()),
                           bases[i].warps});
    const Type& type = start->type();
    if (depth && i == depth_axis)
      start = builder_.create(Opcode::kAdd, {start, splat(depth, type)});
    Value* end = builder_.create(Opcode::kAdd, {start, builder_.integer(type, last)});
    inside = both(inside, builder_.create(Opcode::kLt, {end, splat(axis.left, type)}));
    if (axis.first)
      inside = both(inside, builder_.create(Opcode::kGe, {start, splat(axis.first, type)}));
  }
  return inside;
}

// What a load gives outside the array's bounds; null for 0.
Value* Lowering::padding(const Operation& load, const Type& type) {
  if (load.is(Opcode::kLoad)) {
    const Value* other = load.operand(2) ? same_everywhere(load.operand(2)) : nullptr;
    if (!other) return nullptr;
    if (std::optional<uint64_t> bits = ir::constant_bits(other))
      return *bits ? builder_.constant_bits(type, *bits) : nullptr;
    return splat(scalar(other), type);
  }
  const Operation* made = load.operand(0)->definition();
  bool is_nan = made->has(ir::AttributeName::kPadding) &&
                made->enumerator<ir::Padding>(ir::AttributeName::kPadding) == ir::Padding::kNan;
  if (!is_nan) return nullptr;
  return builder_.floating(type, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace enceladus::simt
