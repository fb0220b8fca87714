// Atomics: each element's owner does it once; where others hold copies and something uses the old
// value, it goes to them through shared memory.
#include "lowering/tile_to_simt/lowering.h"
#include "support/check.h"

namespace enceladus::simt {

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

}  // namespace enceladus::simt
