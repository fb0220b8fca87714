// One reduction of a group: accumulators over the turns of the innermost loop, then across their
// lanes, then the result to scratch or to a scalar.
#pragma once

#include "codegen/cpu/combination.h"
#include "codegen/cpu/lane_evaluator.h"
#include "codegen/cpu/loop_nest.h"

namespace enceladus::cpu {

class ReductionEmitter {
 public:
  ReductionEmitter(LaneEvaluator& evaluator, const LoopNest& nest, const ir::Operation* op);

  void begin();  // in front of the innermost loop
  // Adds the elements at `view` to one of the nest's `unroll` accumulators.
  void accumulate(int view, int accumulator);
  void finish(int view);  // behind the loop; `view` of its first vector

 private:
  Parts load(int accumulator);
  void save(const Parts& parts, int accumulator);
  Parts across_lanes(Parts parts);
  void give(llvm::Value* value, size_t part, int view);

  LaneEvaluator& evaluator_;
  KernelState& kernel_;
  const LoopNest& nest_;
  const ir::Operation* op_;
  int axis_;
  Combination combination_;
  std::vector<llvm::SmallVector<llvm::AllocaInst*, 4>> accumulators_;
  llvm::AllocaInst* has_started_ = nullptr;  // of custom functions, which have no identity
};

}  // namespace enceladus::cpu
