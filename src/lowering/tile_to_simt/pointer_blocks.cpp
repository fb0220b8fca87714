#include "lowering/tile_to_simt/pointer_blocks.h"

#include <algorithm>

#include "ir/builder.h"

namespace enceladus::simt {

using analysis::MaskBound;
using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

const Value* same_everywhere(const Value* tile) {
  while (tile->type().is_tile()) {
    const Operation* op = tile->definition();
    if (!op || op->is(Opcode::kConstant)) return op ? tile : nullptr;
    if (op->record().op_class != ir::OpClass::kShape) return nullptr;
    tile = op->operand(0);
  }
  return tile;
}

const PointerBlock* PointerBlocks::of(const Operation& access) {
  auto [known, is_new] = blocks_.try_emplace(access.id());
  if (is_new) known->second = compute(access);
  return known->second ? &*known->second : nullptr;
}

std::optional<PointerBlock> PointerBlocks::compute(const Operation& access) {
  bool loads = access.is(Opcode::kLoad);
  if ((!loads && !access.is(Opcode::kStore)) || access.operand(0)->type().rank() != 2)
    return std::nullopt;
  if (access.integer_or(AttributeName::kVolatile, 0)) return std::nullopt;
  if (loads && access.operand(2) && !same_everywhere(access.operand(2))) return std::nullopt;
  const analysis::Affine* place = places_.of(access.operand(0));
  if (!place || !place->pointer) return std::nullopt;
  bool has_rows = std::ranges::any_of(place->strides, [](const analysis::Sum& stride) {
    return stride.is_constant() && stride.constant() == 1;
  });
  if (!has_rows) return std::nullopt;
  PointerBlock block{*place, {}};
  ir::Value* mask = access.operand(loads ? 1 : 2);
  if (!mask) return block;
  block.mask = mask_form(mask, masks_);
  bool is_simple = std::ranges::all_of(block.mask.bounds,
                                       [](const MaskBound& bound) { return bound.stride == 1; });
  if (!is_simple || !block.mask.rest.empty()) return std::nullopt;
  return block;
}

}  // namespace enceladus::simt
