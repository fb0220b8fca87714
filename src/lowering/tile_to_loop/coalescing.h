// Tiles that replace one another share a buffer, so that they are updated in place: the
// accumulator that a product adds to and the product's result, and what a loop carries and what its
// body makes of it.
//
//   acc = acc * scale[:, None]        one buffer, no copies, where nothing reads
//   acc = dot(p, v, acc)              the old acc any more
#pragma once

#include "lowering/tile_to_loop/grouping.h"

namespace enceladus::loop {

// Takes a grouping whose buffers have their strides. Changes which buffer tiles lie in, and drops
// the copies that have become idle.
void share_buffers(Grouping& grouping, const ir::Function& function);

}  // namespace enceladus::loop
