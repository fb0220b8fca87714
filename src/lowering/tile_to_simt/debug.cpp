// device_print and device_assert: the thread that owns an element prints its line; copies of a
// condition may fail more than once, since only a launch's first failure counts.
#include <algorithm>

#include "ir/debug_text.h"
#include "lowering/tile_to_simt/lowering.h"

namespace enceladus::simt {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

void Lowering::device_print(const Operation& op) {
  for (int part = 0; part < std::max(1, op.operand_count()); ++part) print_value(op, part);
}

void Lowering::print_value(const Operation& op, int part) {
  const Value* value = part < op.operand_count() ? op.operand(part) : nullptr;
  bool is_tile = value && value->type().is_tile();
  LinearLayout layout =
      is_tile ? assignment_.preferred_or_default(value)
              : make_layout({}, {}, std::vector<TileBit>(kLaneBits),
                            std::vector<TileBit>(static_cast<size_t>(assignment_.warp_bits())));
  Values operands;
  if (value) operands.push_back(is_tile ? pull(value, layout) : scalar(value));
  builder_.set_location_of(&op);
  if (value && value->type().is_pointer())
    operands[0] = builder_.create_typed(Opcode::kBitcast, {operands[0]},
                                        operands[0]->type().with_dtype(DType::kUInt64));
  if (is_tile)
    for (int axis = 0; axis < value->type().rank(); ++axis)
      operands.push_back(coordinates(layout, axis));
  Type like = operands.empty() ? Type::number(DType::kInt1) : operands[0]->type();
  Value* mask = owned_mask(layout, nullptr, like);
  if (!mask) mask = splat(builder_.boolean(true), like);
  operands.insert(operands.begin(), mask);
  builder_.create(Opcode::kPrint, operands, {},
                  {{AttributeName::kText, ir::print_label(op, part)},
                   {AttributeName::kHex, op.integer_or(AttributeName::kHex, 0)}});
}

void Lowering::device_assert(const Operation& op) {
  if (!tile_.options().debug) return;
  const Value* condition = op.operand(0);
  Values operands;
  if (condition->type().is_tile()) {
    LinearLayout layout = assignment_.preferred_or_default(condition);
    for (const Value* operand : op.operands())
      operands.push_back(operand ? pull(operand, layout) : nullptr);
  } else {
    for (const Value* operand : op.operands()) operands.push_back(scalar(operand));
  }
  builder_.set_location_of(&op);
  builder_.create(Opcode::kDeviceAssert, operands, {},
                  {{AttributeName::kText, ir::assertion_text(op)}});
}

}  // namespace enceladus::simt
