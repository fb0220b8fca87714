#include <limits>

#include "lowering/tile_to_simt/lowering.h"
#include "support/check.h"

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

void Lowering::load(const Operation& op) {
  std::vector<Attribute> attributes = access_attributes(op);
  if (op.result()->type().rank() == 0) {
    Values operands{scalar(op.operand(0)), scalar(op.operand(1)), scalar(op.operand(2))};
    Type type = op.result()->type();
    set_scalar(op.result(),
               builder_.create(Opcode::kLoad, operands, std::span(&type, 1), attributes)->result());
    return;
  }
  const LinearLayout& layout = *assignment_.home(op.result());
  LoadOperands source = load_operands(op, layout);
  builder_.set_location_of(&op);
  attributes.push_back(vector_attribute(access_vector(op, layout, facts_)));
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
  const Operation* made = op.operand(0)->definition();
  bool is_nan = made->has(AttributeName::kPadding) &&
                made->enumerator<ir::Padding>(AttributeName::kPadding) == ir::Padding::kNan;
  Type type = array_type(op.result()->type(), layout);
  Value* other =
      is_nan ? builder_.floating(type, std::numeric_limits<double>::quiet_NaN()) : nullptr;
  return {access.pointer, access.mask, other};
}

void Lowering::store(const Operation& op) {
  std::vector<Attribute> attributes = access_attributes(op);
  if (op.operand(0)->type().rank() == 0) {
    Value* value = scalar(op.operand(1));
    Value* mask =
        owned_mask(scalar_layout(assignment_.warp_bits()), scalar(op.operand(2)), value->type());
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
  builder_.create(Opcode::kStore, Values{pointer, value, mask}, {}, attributes);
}

// Terms are added to the pointer one at a time, which is what the hardware's address units like.
// Every index lies inside the array or is masked off, so that where the arrays are small 32 bits
// hold each product.
Lowering::BlockAccess Lowering::block_access(const Operation& op, const LinearLayout& layout) {
  const Operation* made = op.operand(0)->definition();
  ENC_CHECK(made && made->is(Opcode::kMakeDescriptor), "a descriptor of unknown origin");
  const Type& block = op.operand(0)->type();
  int rank = block.rank(), first_offset = op.is(Opcode::kDescriptorLoad) ? 1 : 2;
  DType index_type = tile_.options().arrays_small ? DType::kInt32 : DType::kInt64;
  Type pointers = array_type(Type::pointer(block.dtype()), layout);
  Value* pointer = splat(scalar(made->operand(0)), pointers);
  Value* mask = nullptr;
  for (int axis = 0; axis < rank; ++axis) {
    Value* offset = builder_.cast(scalar(op.operand(first_offset + axis)), index_type);
    Value* size = builder_.cast(scalar(made->operand(1 + axis)), index_type);
    Value* stride = builder_.cast(scalar(made->operand(1 + rank + axis)), index_type);
    Value* within = builder_.cast(coordinates(layout, axis), index_type);
    Value* index = builder_.create(Opcode::kAdd, {splat(offset, pointers), within});
    Value* lower = builder_.create(Opcode::kGe, {index, builder_.integer(index->type(), 0)});
    Value* upper = builder_.create(Opcode::kLt, {index, splat(size, pointers)});
    Value* inside = builder_.create(Opcode::kAnd, {lower, upper});
    mask = mask ? builder_.create(Opcode::kAnd, {mask, inside}) : inside;
    bool is_last = axis + 1 == rank;
    Value* step = is_last ? index : builder_.create(Opcode::kMul, {index, splat(stride, pointers)});
    pointer = builder_.create(Opcode::kAddPtr, {pointer, step});
  }
  return {pointer, mask};
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
