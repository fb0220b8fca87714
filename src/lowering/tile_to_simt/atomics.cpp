// Atomics: each element's owner does it once; where others hold copies and something uses the old
// value, it goes to them through shared memory. Sums that qualify are counted in shared memory
// first (tallies.h).
#include <algorithm>

#include "lowering/tile_to_simt/lowering.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::Attribute;
using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

void Lowering::atomic(const Operation& op) {
  bool is_tile = op.operand(0)->type().is_tile();
  constexpr int64_t kOne[] = {1};
  LinearLayout layout =
      is_tile ? assignment_.access_layout(op)
              : make_layout(kOne, {}, std::vector<TileBit>(kLaneBits),
                            std::vector<TileBit>(static_cast<size_t>(assignment_.warp_bits())));
  auto operand = [&](int index) -> Value* {
    const Value* value = op.operand(index);
    if (!value) return nullptr;
    if (is_tile) return pull(value, layout);
    return splat(scalar(value), scalar(value)->type().with_shape(kOne));
  };
  Value* pointer = operand(0);
  Value* first = operand(1);
  bool swaps = op.is(Opcode::kAtomicCas);
  Value* last = operand(2);  // cas: the value; others: the mask
  builder_.set_location_of(&op);
  Value* mask = owned_mask(layout, swaps ? nullptr : last, first->type());
  std::vector<ir::Attribute> attributes(op.attributes().begin(), op.attributes().end());
  if (const Tally* tally = tallies_.of(op)) mask = count(*tally, layout, first, mask);
  // The language's default; element by element nobody waits for it.
  if (!is_tile && !op.has(AttributeName::kSemantics))
    attributes.push_back({AttributeName::kSemantics, std::string("acq_rel")});
  Type type = first->type();
  Values operands{pointer, first, swaps ? last : mask};
  if (swaps) operands.push_back(mask);
  Value* old =
      builder_.create(op.opcode(), operands, std::span(&type, 1), std::move(attributes))->result();
  bool has_copies = free_lanes(layout) != 0 || free_warps(layout) != 0;
  if (op.result()->has_users() && has_copies) old = convert_through_shared(old, layout, layout);
  if (is_tile) return set_tile(op.result(), old);
  set_scalar(op.result(), builder_.create_typed(Opcode::kElement, {old}, old->type().element(),
                                                {{AttributeName::kIndex, int64_t{0}}}));
}

namespace {

// How the threads of a program share the elements of a tally.
LinearLayout tally_layout(const Tally& tally, int warp_bits) {
  return default_layout(std::span(&tally.elements, 1), warp_bits);
}

Attribute vector_of(const LinearLayout& layout) {
  return {AttributeName::kVector, std::min<int64_t>(4, register_count(layout))};
}

}  // namespace

void Lowering::open_tallies(const Operation& scope) {
  for (const Tally* tally : tallies_.of_scope(scope)) {
    builder_.set_location_of(tally->atomic);
    DType dtype = tally->atomic->operand(1)->type().dtype();
    int64_t elements = tally->elements + (target_.counts_in_vain ? 1 : 0);
    Value* buffer = shared_buffer(elements * byte_size(dtype));
    LinearLayout layout = tally_layout(*tally, assignment_.warp_bits());
    Type type = array_type(Type::number(dtype), layout);
    builder_.create(Opcode::kSharedStore,
                    Values{buffer, coordinates(layout, 0), builder_.integer(type, 0),
                           owned_mask(layout, nullptr, type)},
                    {}, {vector_of(layout)});
    counts_[tally] = buffer;
  }
}

void Lowering::close_tallies(const Operation& scope) {
  for (const Tally* tally : tallies_.of_scope(scope)) {
    builder_.set_location_of(tally->atomic);
    LinearLayout layout = tally_layout(*tally, assignment_.warp_bits());
    Type type = array_type(Type::number(tally->atomic->operand(1)->type().dtype()), layout);
    Value* places = coordinates(layout, 0);
    Value* counted = builder_.create_typed(Opcode::kSharedLoad, {counts_.at(tally), places}, type,
                                           {vector_of(layout)});
    Value* pointers = builder_.create(Opcode::kAddPtr, {splat(scalar(tally->base), type), places});
    Value* any = builder_.create(Opcode::kNe, {counted, builder_.integer(type, 0)});
    builder_.create(Opcode::kAtomicRmw, Values{pointers, counted, owned_mask(layout, any, type)},
                    std::span(&type, 1),
                    {{AttributeName::kAtomic, tally->atomic->integer(AttributeName::kAtomic)}});
    counts_.erase(tally);
  }
}

// An index below 0 is a large one without its sign. What the tally does not hold goes to an element
// behind the others, which nobody reads, where that costs less than a branch.
Value* Lowering::count(const Tally& tally, const LinearLayout& layout, Value* value, Value* mask) {
  Value* index = pull(tally.index, layout);
  bool is_wide = byte_size(index->type().dtype()) == 8;
  Value* place = builder_.cast(index, is_wide ? DType::kUInt64 : DType::kUInt32);
  Value* end = builder_.integer(place->type(), tally.elements);
  auto where = [&, index = place](Opcode comparison) {
    Value* side = builder_.create(comparison, {index, end});
    return mask ? builder_.create(Opcode::kAnd, {mask, side}) : side;
  };
  Value* held = where(Opcode::kLt);
  if (target_.counts_in_vain) {
    place = builder_.create(Opcode::kSelect, {place, end, held});
    held = nullptr;
  }
  builder_.create(Opcode::kSharedAtomic,
                  Values{counts_.at(&tally), builder_.cast(place, DType::kInt32), value, held}, {},
                  {{AttributeName::kAtomic, tally.atomic->integer(AttributeName::kAtomic)}});
  return where(Opcode::kGe);
}

}  // namespace enceladus::simt
