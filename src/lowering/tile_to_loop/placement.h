// Gives every buffer its strides and a place in scratch: lets tiles that replace one another share
// a buffer, and lays buffers that are never alive together over one another.
#pragma once

#include "lowering/tile_to_loop/grouping.h"

namespace enceladus::loop {

void place_buffers(Grouping& grouping, const ir::Function& function,
                   const DotTileLayout& dot_layout);

}  // namespace enceladus::loop
