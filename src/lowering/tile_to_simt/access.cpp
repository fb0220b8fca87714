#include "lowering/tile_to_simt/access.h"

#include <algorithm>
#include <bit>

#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::simt {
namespace {

using analysis::AxisInfo;
using ir::Opcode;

constexpr int64_t kWidestBytes = 16;

const ir::Value* mask_of(const ir::Operation& access) {
  if (access.is(Opcode::kLoad)) return access.operand(1);
  if (access.is(Opcode::kStore) || access.is(Opcode::kAtomicRmw)) return access.operand(2);
  return nullptr;
}

AccessShape of_pointers(const ir::Operation& access, const analysis::Facts& facts) {
  const ir::Value* pointer = access.operand(0);
  AccessShape result;
  result.shape = {pointer->type().shape().begin(), pointer->type().shape().end()};
  result.element_bytes = byte_size(pointer->type().dtype());
  AxisInfo info = facts.axis_info(pointer);
  for (int axis = pointer->type().rank() - 1; axis >= 0; --axis) result.order.push_back(axis);
  std::stable_sort(result.order.begin(), result.order.end(),
                   [&](int a, int b) { return info.axis(a).contiguity > info.axis(b).contiguity; });
  int first = result.order.front();
  result.contiguity = info.axis(first).contiguity;
  result.alignment = std::max<int64_t>(1, info.axis(first).divisibility / result.element_bytes);
  const ir::Value* mask = mask_of(access);
  result.uniform = mask ? facts.axis_info(mask).axis(first).constancy : result.contiguity;
  return result;
}

// A block's rows start at base + sum of offset * stride; the last axis is contiguous.
AccessShape of_descriptor(const ir::Operation& access, const analysis::Facts& facts) {
  const ir::Value* descriptor = access.operand(0);
  const ir::Type& type = descriptor->type();
  AccessShape result;
  result.shape = {type.shape().begin(), type.shape().end()};
  result.element_bytes = byte_size(type.dtype());
  for (int axis = type.rank() - 1; axis >= 0; --axis) result.order.push_back(axis);
  result.contiguity = type.extent(type.rank() - 1);
  const ir::Operation* made = descriptor->definition();
  if (!made || !made->is(Opcode::kMakeDescriptor)) return result;
  int rank = type.rank();
  int first_offset = access.is(Opcode::kDescriptorLoad) ? 1 : 2;
  int64_t alignment = facts.divisibility(made->operand(0)) / result.element_bytes;
  for (int axis = 0; axis + 1 < rank; ++axis)
    alignment = std::min(alignment, facts.divisibility(made->operand(1 + rank + axis)));
  int64_t last_offset = facts.divisibility(access.operand(first_offset + rank - 1));
  result.alignment = std::max<int64_t>(1, std::min(alignment, last_offset));
  int64_t inside = facts.divisibility(made->operand(rank));  // the last size
  result.uniform = std::min(last_offset, inside);
  return result;
}

}  // namespace

int64_t AccessShape::widest() const {
  int64_t most = std::max<int64_t>(1, kWidestBytes / element_bytes);
  int64_t elements = std::min({contiguity, alignment, uniform, most});
  return static_cast<int64_t>(
      std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, elements))));
}

AccessShape access_shape(const ir::Operation& access, const analysis::Facts& facts) {
  bool block = access.is(Opcode::kDescriptorLoad) || access.is(Opcode::kDescriptorStore);
  return block ? of_descriptor(access, facts) : of_pointers(access, facts);
}

int64_t coalesced_bytes(const AccessShape& access, const LinearLayout& layout, Together together) {
  int axis = access.order.front();
  int64_t covered = 0;  // bits of the axis
  auto cover = [&](const TileBit& bit) {
    if (bit.axis == axis) covered |= int64_t{1} << bit.bit;
  };
  std::vector<TileBit> registers = images(layout, Dim::kRegister);
  if (together == Together::kEach) {
    size_t vector = 0;  // register bits that one access moves
    while (vector < registers.size() && registers[vector].axis == axis &&
           registers[vector].bit == static_cast<int>(vector) &&
           int64_t{2} << vector <= access.widest())
      ++vector;
    registers.resize(vector);
  }
  for (const TileBit& bit : registers) cover(bit);
  for (const TileBit& bit : images(layout, Dim::kLane)) cover(bit);
  int64_t run = int64_t{1} << std::countr_one(static_cast<uint64_t>(covered));
  return std::min(run, access.contiguity) * access.element_bytes;
}

bool can_copy_async(const ir::Operation& load, const analysis::Facts& facts) {
  constexpr int64_t kLeastBytes = 4;
  if (load.is(Opcode::kDescriptorLoad)) {
    const ir::Operation* made = load.operand(0)->definition();
    bool is_nan = made->has(ir::AttributeName::kPadding) &&
                  made->enumerator<ir::Padding>(ir::AttributeName::kPadding) == ir::Padding::kNan;
    if (is_nan) return false;
  } else if (const ir::Value* other = load.operand(2)) {
    while (other->definition() && other->definition()->is(Opcode::kSplat))
      other = other->definition()->operand(0);
    std::optional<uint64_t> bits = ir::constant_bits(other);
    if (!bits || *bits != 0) return false;
  }
  AccessShape shape = access_shape(load, facts);
  return shape.widest() * shape.element_bytes >= kLeastBytes;
}

}  // namespace enceladus::simt
