// Non-temporal stores: a large result that the kernel does not read back is written around the
// caches, which saves reading its lines first and keeps the inputs in them. Below the size of the
// last cache they lose by far, so the launch decides (kCpuFlagStreaming) between two versions of
// the loop, and the runtime fences what was stored so. Not for tiles in scratch, nor for masked or
// scattered stores.
#pragma once

#include <vector>

#include "codegen/cpu/lane_evaluator.h"

namespace enceladus::cpu {

// At run time, an i1: whether the stores of the group's innermost loop shall be non-temporal. Null
// where they must not be. `views` are those of the vectors that one turn takes; the evaluator
// stands in front of the loop, its turn being poison.
llvm::Value* streaming_condition(LaneEvaluator& evaluator, const loop::Group& group,
                                 const std::vector<int>& views);

}  // namespace enceladus::cpu
