#include "lowering/tile_to_loop/operation_order.h"

#include "analysis/effects.h"

namespace enceladus::loop {

OperationOrder::OperationOrder(const ir::Function& function)
    : positions_(function.operation_count()), ends_(function.operation_count()) {
  number(function.body());
}

void OperationOrder::number(const ir::Region& region) {
  for (const ir::Operation* op : region) {
    positions_[op->id()] = next_++;
    if (analysis::writes_memory(*op)) writers_.push_back(op);
    for (const ir::Region* nested : op->regions()) number(*nested);
    ends_[op->id()] = next_++;
  }
}

int OperationOrder::latest_run(const ir::Operation* defined, const ir::Operation* root) const {
  const ir::Operation* around = root;
  while (around->parent() != defined->parent()) around = around->parent_operation();
  return around == root ? position(root) : ends_[around->id()];
}

}  // namespace enceladus::loop
