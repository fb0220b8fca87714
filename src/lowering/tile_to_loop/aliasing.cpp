#include "lowering/tile_to_loop/aliasing.h"

#include <algorithm>

namespace enceladus::loop {
namespace {

using ir::Opcode;

bool is_index_arithmetic(const ir::Value* value) {
  if (value->type().rank() == 0) return true;
  const ir::Operation* op = value->definition();
  if (op == nullptr) return false;
  switch (op->opcode()) {
    case Opcode::kConstant:
    case Opcode::kArange:
    case Opcode::kSplat:
      return true;
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kAddPtr:
    case Opcode::kCast:
    case Opcode::kHint:
    case Opcode::kBroadcast:
    case Opcode::kExpandDims:
    case Opcode::kReshape:
    case Opcode::kTranspose:
      return std::all_of(op->operands().begin(), op->operands().end(), is_index_arithmetic);
    default:
      return false;
  }
}

// Offsets of a descriptor access; empty for others.
std::span<ir::Value* const> offsets_of(const ir::Operation* op) {
  if (op->is(Opcode::kDescriptorLoad)) return op->operands().subspan(1);
  if (op->is(Opcode::kDescriptorStore)) return op->operands().subspan(2);
  return {};
}

}  // namespace

bool same_elements(const ir::Operation* first, const ir::Operation* second) {
  const ir::Value* pointer = first->operand(0);
  if (pointer != second->operand(0)) return false;
  if (!pointer->type().is_descriptor()) return is_index_arithmetic(pointer);
  const auto one = offsets_of(first), two = offsets_of(second);
  return std::equal(one.begin(), one.end(), two.begin(), two.end());
}

}  // namespace enceladus::loop
