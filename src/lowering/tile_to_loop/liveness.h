// Between which items each buffer is alive. Items are numbered in program order; a loop keeps what
// it uses from outside alive to its end.
#pragma once

#include "lowering/tile_to_loop/grouping.h"

namespace enceladus::loop {

struct ItemSpan {
  int first, last;
};

// Numbers the items and sets `first`, `last` and `is_used` of the plan's buffers. Returns the
// items between which each control operation runs.
std::unordered_map<const ir::Operation*, ItemSpan> find_lives(Grouping& grouping,
                                                              const ir::Function& function);

}  // namespace enceladus::loop
