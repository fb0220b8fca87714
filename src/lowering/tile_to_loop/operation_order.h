// Where operations stand in program order, and which of them write memory: what the cutter asks
// before it lets an operation run later than it stands. Not: which accesses touch the same bytes
// (analysis/effects.h).
#pragma once

#include <vector>

#include "ir/ir.h"

namespace enceladus::loop {

class OperationOrder {
 public:
  explicit OperationOrder(const ir::Function& function);

  int position(const ir::Operation* op) const { return positions_[op->id()]; }
  // The last position at which `root` may run, where `defined` stands outside its loops.
  int latest_run(const ir::Operation* defined, const ir::Operation* root) const;
  // Every operation that writes memory, in order.
  const std::vector<const ir::Operation*>& writers() const { return writers_; }

 private:
  void number(const ir::Region& region);

  std::vector<int> positions_, ends_;  // by Operation::id()
  std::vector<const ir::Operation*> writers_;
  int next_ = 0;
};

}  // namespace enceladus::loop
