// Gives every buffer its strides and a place in scratch: numbers the items, finds between which of
// them each buffer is alive (a loop keeps what it uses from outside alive to its end), and lays
// buffers that are never alive together over one another.
#pragma once

#include "lowering/tile_to_loop/grouping.h"

namespace enceladus::loop {

void place_buffers(Grouping& grouping, const ir::Function& function,
                   const DotTileLayout& dot_layout);

}  // namespace enceladus::loop
