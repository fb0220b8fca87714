#include "analysis/liveness.h"

#include <algorithm>

namespace enceladus::analysis {
namespace {

using ir::Operation;
using ir::Region;
using ir::Value;

const Region* home(const Value* value) {
  return value->definition() ? value->definition()->parent() : value->argument_of();
}

int64_t tile_bytes(const Value* value) {
  const ir::Type& type = value->type();
  if (!type.is_tile()) return 0;
  return type.elements() * (type.is_pointer() ? 8 : byte_size(type.dtype()));
}

}  // namespace

Liveness::Liveness(const ir::Function& function) : last_uses_(function.value_count()) {
  // In program order, so that the last one stays.
  ir::walk(function.body(), [&](const Operation* op) {
    for (const Value* operand : op->operands()) {
      if (!operand) continue;
      const Operation* user = op;
      while (user->parent() != home(operand)) user = user->parent_operation();
      last_uses_[operand->id()] = user;
    }
  });
  region(function.body(), 0);
}

const Operation* Liveness::last_use(const Value* value) const {
  return value->id() < last_uses_.size() ? last_uses_[value->id()] : nullptr;
}

// Follows how many bytes are alive; gives the most at once.
int64_t Liveness::region(const Region& region, int64_t alive) {
  for (const Value* argument : region.arguments()) alive += tile_bytes(argument);
  for (const Operation* op : region) {
    for (const Region* nested : op->regions()) this->region(*nested, alive);
    for (const Value* result : op->results()) alive += tile_bytes(result);
    peak_tile_bytes_ = std::max(peak_tile_bytes_, alive);
    for (int i = 0; i < op->operand_count(); ++i) {
      const Value* operand = op->operand(i);
      bool seen = std::find(op->operands().begin(), op->operands().begin() + i, operand) !=
                  op->operands().begin() + i;
      if (operand && !seen && last_use(operand) == op) alive -= tile_bytes(operand);
    }
    for (const Value* result : op->results())
      if (!last_use(result)) alive -= tile_bytes(result);
  }
  return alive;
}

}  // namespace enceladus::analysis
