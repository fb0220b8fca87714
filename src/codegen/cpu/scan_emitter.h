// One scan of a group: across the lanes of a vector in steps that double, joined to a carry from
// the vectors before.
#pragma once

#include "codegen/cpu/combination.h"
#include "codegen/cpu/lane_evaluator.h"
#include "codegen/cpu/loop_nest.h"

namespace enceladus::cpu {

class ScanEmitter {
 public:
  ScanEmitter(LaneEvaluator& evaluator, const LoopNest& nest, const ir::Operation* op);

  void begin();  // in front of the innermost loop
  // The scanned elements at `view`, one value for each result; moves the carry on.
  Parts scan(int view);

 private:
  Parts shuffled(const Parts& parts, llvm::ArrayRef<int> mask);
  Parts chosen(llvm::Value* condition, const Parts& yes, const Parts& no);
  Parts within_vector(Parts parts);
  // The lane that stands `distance` before `lane` along the axis, or -1.
  int earlier_lane(int lane, int64_t distance) const;

  LaneEvaluator& evaluator_;
  KernelState& kernel_;
  const LoopNest& nest_;
  const ir::Operation* op_;
  int axis_;
  bool is_reverse_;
  Combination combination_;
  llvm::SmallVector<llvm::AllocaInst*, 4> carry_;
  llvm::AllocaInst* has_started_ = nullptr;
};

}  // namespace enceladus::cpu
