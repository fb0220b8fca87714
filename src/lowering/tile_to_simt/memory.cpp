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
Attribute Lowering::exclusive_attribute(const Operation& access, const LinearLayout& layout) {
  bool has_copies = free_lanes(layout) != 0 || free_warps(layout) != 0;
  bool by_pointers = access.operand(0)->type().is_pointer();
  Exclusive exclusive = by_pointers && !has_copies ? footprints_.of(access) : kNotExclusive;
  return {AttributeName::kExclusive, int64_t{exclusive}};
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
  attributes.push_back(exclusive_attribute(op, layout));
  Type type = array_type(op.result()->type(), layout);
  set_tile(op.result(),
           builder_
               .create(Opcode::kLoad, Values{source.pointer, source.mask, source.other},
                       std::span(&type, 1), attributes)
               ->result());
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
  Value* pointer = pull(op.operand(0), layout);
  Value* value = pull(op.operand(1), layout);
  Value* mask = op.operand(2) ? pull(op.operand(2), layout) : nullptr;
  builder_.set_location_of(&op);
  mask = owned_mask(layout, mask, value->type());
  attributes.push_back(vector_attribute(access_vector(op, layout, facts_)));
  attributes.push_back(exclusive_attribute(op, layout));
  builder_.create(Opcode::kStore, Values{pointer, value, mask}, {}, attributes);
}

// A load that a dot takes directly is in the dot's layout: programs whose block is wholly inside
// the array load without masks.
void Lowering::direct_load(const Operation& op) {
  const LinearLayout& layout = *assignment_.home(op.result());
  BlockAccess access = block_access(op, layout);
  Type type = array_type(op.result()->type(), layout);
  Attribute vector = vector_attribute(access_vector(op, layout, facts_));
  auto loaded = [&](Value* mask, Value* other) {
    Values operands{access.pointer, mask, other};
    return builder_.create(Opcode::kLoad, operands, std::span(&type, 1), {vector})->result();
  };
  if (!access.all_inside) return set_tile(op.result(), loaded(nullptr, nullptr));
  Operation* branch = builder_.if_else(access.all_inside, std::span(&type, 1));
  within(branch->region(0), [&] { builder_.yield({loaded(nullptr, nullptr)}); });
  within(branch->region(1), [&] { builder_.yield({loaded(access.mask, padding(op, type))}); });
  set_tile(op.result(), branch->result());
}

void Lowering::descriptor_store(const Operation& op) {
  LinearLayout layout = assignment_.access_layout(op);
  Value* value = pull(op.operand(1), layout);
  builder_.set_location_of(&op);
  BlockAccess access = block_access(op, layout);
  Value* mask = owned_mask(layout, access.mask, value->type());
  builder_.create(Opcode::kStore, Values{access.pointer, value, mask}, {},
                  {vector_attribute(access_vector(op, layout, facts_))});
}

}  // namespace enceladus::simt
