// For which turns of the innermost loop the masks of a group's loads and stores are true in all
// lanes: found from comparisons of sums of coordinates with bounds that the loop does not change.
// In those turns the group runs without masks.
#pragma once

#include <optional>
#include <vector>

#include "codegen/cpu/lane_evaluator.h"

namespace enceladus::cpu {

struct TurnRange {
  llvm::Value* begin = nullptr;  // i64, 0 <= begin <= end <= turns
  llvm::Value* end = nullptr;
  bool starts_at_zero = true;
  // What holds there, at which views: see LaneEvaluator::assume.
  std::vector<std::pair<const void*, int>> conditions;
};

// `views` are those of the vectors that one turn takes. Nothing where no mask can be decided so.
// The evaluator stands in front of the innermost loop, its turn being poison.
std::optional<TurnRange> find_turn_range(LaneEvaluator& evaluator, const loop::Group& group,
                                         const std::vector<int>& views, int64_t turns);

}  // namespace enceladus::cpu
