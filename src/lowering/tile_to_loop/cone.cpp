#include "lowering/tile_to_loop/cone.h"

#include "analysis/cost.h"

namespace enceladus::loop {
namespace {

using ir::OpClass;
using ir::Opcode;

// In vector instructions, as arithmetic_cost counts.
constexpr int kFunctionCost = 20, kRootCost = 8, kIntegerDivisionCost = 30;

Indexing through(const ir::Operation* op, const ir::Value* operand, Indexing indexing) {
  const bool same_shape = op->record().op_class != OpClass::kShape && op->result_count() > 0 &&
                          std::ranges::equal(operand->type().shape(), op->result()->type().shape());
  return same_shape ? indexing : Indexing::kOther;
}

int arithmetic_cost(const ir::Operation* op) {
  switch (analysis::effort_of(*op)) {
    case analysis::Effort::kFunction:
      return kFunctionCost;
    case analysis::Effort::kRoot:
      return kRootCost;
    case analysis::Effort::kIntegerDivision:
      return kIntegerDivisionCost;
    case analysis::Effort::kPlain:
      break;
  }
  switch (op->opcode()) {
    case Opcode::kConstant:
    case Opcode::kArange:
    case Opcode::kHint:
    case Opcode::kAddPtr:
    case Opcode::kBitcast:
      return 0;
    case Opcode::kCast:
      if (is_float8(op->operand(0)->type().dtype()) || is_float8(op->result()->type().dtype()))
        return 12;
      break;
    case Opcode::kLoad:
    case Opcode::kDescriptorLoad:
      return 2;
    default:
      break;
  }
  if (op->record().op_class == OpClass::kShape) return 0;
  const DType dtype = op->result()->type().dtype();
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 ? 3 : 1;
}

}  // namespace

bool must_be_stored(const ir::Value* value) {
  if (!value->type().is_tile()) return false;
  const ir::Operation* op = value->definition();
  if (op == nullptr) return true;
  switch (op->record().op_class) {
    case OpClass::kReduction:
    case OpClass::kMatrix:
    case OpClass::kControl:
      return true;
    case OpClass::kMemory:
      return !op->is(Opcode::kLoad) && !op->is(Opcode::kDescriptorLoad);
    default:
      return false;
  }
}

bool ConeWalk::mark(const ir::Value* value, Indexing indexing) {
  const char bit = indexing == Indexing::kOwn ? 1 : 2;
  char& seen = seen_[value->id()];
  if (seen & bit) return false;
  if (seen == 0) touched_.push_back(value->id());
  seen = static_cast<char>(seen | bit);
  return true;
}

void ConeWalk::reset() {
  for (uint32_t id : touched_) seen_[id] = 0;
  touched_.clear();
}

void ConeWalk::add(const ir::Value* value, Indexing indexing, Cone& cone) {
  if (value == nullptr || !mark(value, indexing)) return;
  if (value->type().is_scalar()) {
    cone.scalars.push_back(value);
  } else if (value->type().is_tile() && is_stored_[value->id()]) {
    cone.stored.push_back({value, indexing});
  } else if (const ir::Operation* op = value->definition()) {
    for (const ir::Value* operand : op->operands())
      if (operand != nullptr) add(operand, through(op, operand, indexing), cone);
    if (value->type().is_tile()) cone.computed.push_back({value, indexing});
  }
}

void ConeWalk::add_definition(const ir::Value* value, Cone& cone) {
  const ir::Operation* op = value->definition();
  for (const ir::Value* operand : op->operands())
    if (operand != nullptr) add(operand, through(op, operand, Indexing::kOwn), cone);
  cone.computed.push_back({value, Indexing::kOwn});
}

int recompute_cost(const Cone& cone) {
  int cost = 0;
  for (const ConeEntry& entry : cone.computed) cost += arithmetic_cost(entry.value->definition());
  return cost;
}

}  // namespace enceladus::loop
