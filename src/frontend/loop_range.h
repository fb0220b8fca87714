// The ranges that a `for` runs over: Python's `range`, `tl.range` with its hints, and
// `tl.static_range`.
#pragma once

#include "frontend/context.h"

namespace enceladus::frontend {

struct LoopRange {
  bool is_static = false;
  // Static: constants.
  int64_t first = 0, last = 0, increment = 1;
  // Run time: integers of one type, int32 or int64.
  ir::Value* lower = nullptr;
  ir::Value* upper = nullptr;
  ir::Value* step = nullptr;
  std::vector<ir::Attribute> hints;
};

// Nothing where the expression is no call of a range.
std::optional<LoopRange> loop_range(Context& context, const Node& node);

}  // namespace enceladus::frontend
