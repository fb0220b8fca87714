// Cuts a function into items and groups, given which tiles lie in scratch. Finds the tiles that
// must lie there too because computing them later would read memory that has changed by then; the
// caller repeats the cut until none is found.
#pragma once

#include "lowering/tile_to_loop/cone.h"
#include "lowering/tile_to_loop/plan.h"

namespace enceladus::loop {

struct Grouping {
  Plan plan;                // items and groups; buffers without places
  std::vector<Cone> cones;  // of each group, by its index
  bool is_final = true;     // false: `is_stored` grew, cut again
};

// `dot_loops`: the loops that run as one product; what they hold has no items.
Grouping cut_into_groups(const ir::Function& function, const std::vector<DotLoop>& dot_loops,
                         std::vector<char>& is_stored);

}  // namespace enceladus::loop
