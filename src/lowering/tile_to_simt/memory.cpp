#include <algorithm>

#include "lowering/tile_to_simt/lowering.h"

namespace enceladus::simt {

using ir::Attribute;
using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

namespace {

// What a scalar access looks like: one element, of which every thread holds a copy.
LinearLayout scalar_layout(int warp_bits) {
  return make_layout({}, {}, std::vector<TileBit>(kLaneBits),
                     std::vector<TileBit>(static_cast<size_t>(warp_bits)));
}

Attribute vector_attribute(int vector) { return {AttributeName::kVector, int64_t{vector}}; }

std::vector<Attribute> access_attributes(const Operation& op) {
  return {op.attributes().begin(), op.attributes().end()};
}

}  // namespace

// Threads that hold copies touch each other's elements.
Lowering::Exclusion Lowering::exclusion(const Operation& access, const LinearLayout& layout) {
  if (free_lanes(layout) != 0 || free_warps(layout) != 0) return {};
  Footprint footprint = footprints_.of(access);
  Exclusion result{{AttributeName::kExclusive, int64_t{footprint.exclusive}}, nullptr};
  if (!footprint.provided) return result;
  const Apart& apart = *footprint.provided;
  Type i64 = Type::number(DType::kInt64);
  Placement placement(
      *this, std::max(level_of(apart.stride), apart.limit ? level_of(*apart.limit) : size_t{0}));
  Value* stride = sum_value(apart.stride, DType::kInt64);
  Value* magnitude = builder_.create(
      Opcode::kMax, {stride, builder_.create(Opcode::kSub, {builder_.integer(i64, 0), stride})});
  Value* reach = builder_.integer(i64, apart.reach);
  if (apart.limit)
    reach = builder_.create(Opcode::kMin, {reach, sum_value(*apart.limit, DType::kInt64)});
  result.apart = builder_.create(Opcode::kGe, {magnitude, reach});
  return result;
}

void Lowering::load(const Operation& op) {
  std::vector<Attribute> attributes = access_attributes(op);
  if (op.result()->type().rank() == 0) {
    Values operands{scalar(op.operand(0)), scalar(op.operand(1)), scalar(op.operand(2))};
    Type type = op.result()->type();
    set_scalar(op.result(),
               builder_.create(Opcode::kLoad, operands, std::span(&type, 1), attributes)->result());
    return;
  }
  if (assignment_.direct().is_read_at_use(op)) return;
  if (assignment_.direct().layout(op)) return direct_load(op);
  const LinearLayout& layout = *assignment_.home(op.result());
  LoadOperands source = load_operands(op, layout);
  builder_.set_location_of(&op);
  attributes.push_back(vector_attribute(access_vector(op, layout, facts_)));
  Exclusion exclusion = this->exclusion(op, layout);
  attributes.push_back(exclusion.attribute);
  Type type = array_type(op.result()->type(), layout);
  Values operands{source.pointer, source.mask, source.other, nullptr, exclusion.apart};
  set_tile(op.result(),
           builder_.create(Opcode::kLoad, operands, std::span(&type, 1), attributes)->result());
}

Lowering::LoadOperands Lowering::load_operands(const Operation& op, const LinearLayout& layout) {
  if (op.is(Opcode::kLoad)) {
    auto operand = [&](int i) { return op.operand(i) ? pull(op.operand(i), layout) : nullptr; };
    return {operand(0), operand(1), operand(2)};
  }
  builder_.set_location_of(&op);
  BlockAccess access = block_access(op, layout);
  Value* other = padding(op, array_type(op.result()->type(), layout));
  return {access.pointer, access.mask, other};
}

void Lowering::store(const Operation& op) {
  std::vector<Attribute> attributes = access_attributes(op);
  if (op.operand(0)->type().rank() == 0) {
    Value* value = scalar(op.operand(1));
    Value* mask =
        owned_mask(scalar_layout(assignment_.warp_bits()), scalar(op.operand(2)), value->type());
    attributes.push_back({AttributeName::kExclusive, int64_t{kOneThread}});
    builder_.create(Opcode::kStore, Values{scalar(op.operand(0)), value, mask}, {}, attributes);
    return;
  }
  LinearLayout layout = assignment_.access_layout(op);
  if (is_fragments(layout) && pointer_blocks_.of(op)) return store_block(op);
  Value* pointer = pull(op.operand(0), layout);
  Value* value = pull(op.operand(1), layout);
  Value* mask = op.operand(2) ? pull(op.operand(2), layout) : nullptr;
  builder_.set_location_of(&op);
  mask = owned_mask(layout, mask, value->type());
  attributes.push_back(vector_attribute(access_vector(op, layout, facts_)));
  Exclusion exclusion = this->exclusion(op, layout);
  attributes.push_back(exclusion.attribute);
  builder_.create(Opcode::kStore, Values{pointer, value, mask, nullptr, exclusion.apart}, {},
                  attributes);
}

// A load that a dot takes directly is in the dot's layout: programs whose block is wholly inside
// the array load without masks, others mask the fragments that are not.
void Lowering::direct_load(const Operation& op) {
  const LinearLayout& layout = *assignment_.home(op.result());
  BlockAccess access = block_access(op, layout);
  Type type = array_type(op.result()->type(), layout);
  int64_t vector = access_vector(op, layout, facts_), inside = inside_vector(op, layout, facts_);
  auto loaded = [&](const Values& operands, std::vector<Attribute> vectors) {
    return builder_.create(Opcode::kLoad, operands, std::span(&type, 1), std::move(vectors))
        ->result();
  };
  auto unmasked = [&] { return loaded({access.pointer}, {{AttributeName::kVector, inside}}); };
  if (!access.all_inside) return set_tile(op.result(), unmasked());
  Operation* branch = builder_.if_else(access.all_inside, std::span(&type, 1));
  within(branch->region(0), [&] { builder_.yield({unmasked()}); });
  within(branch->region(1), [&] {
    Value* groups = groups_inside(access.axes, access.bases);
    builder_.yield(
        {loaded({access.pointer, access.mask, padding(op, type), groups},
                {{AttributeName::kVector, vector}, {AttributeName::kInsideVector, inside}})});
  });
  set_tile(op.result(), branch->result());
}

// What a dot left in fragments is stored by fragments: those wholly inside the array unmasked.
void Lowering::store_block(const Operation& op) {
  LinearLayout layout = assignment_.access_layout(op);
  Value* value = pull(op.operand(1), layout);
  builder_.set_location_of(&op);
  BlockAccess access = block_access(op, layout);
  Value* mask = owned_mask(layout, access.mask, value->type());
  std::vector<Attribute> attributes = access_attributes(op);
  attributes.push_back(vector_attribute(access_vector(op, layout, facts_)));
  Exclusion exclusion = this->exclusion(op, layout);
  attributes.push_back(exclusion.attribute);
  Value* inside = nullptr;
  if (access.mask && !owner(layout) && is_fragments(layout)) {
    inside = groups_inside(access.axes, access.bases);
    attributes.push_back(
        {AttributeName::kInsideVector, int64_t{inside_vector(op, layout, facts_)}});
  }
  builder_.create(Opcode::kStore, Values{access.pointer, value, mask, inside, exclusion.apart}, {},
                  attributes);
}

bool Lowering::is_fragments(const LinearLayout& layout) const {
  return target_.direct_fragments && std::ranges::find(fragments_, layout) != fragments_.end();
}

}  // namespace enceladus::simt
