// Whether two accesses touch the same elements in the same order, so that a load and a store may
// share a loop nest. Which accesses may touch the same bytes at all: analysis/effects.h.
#pragma once

#include "ir/ir.h"

namespace enceladus::loop {

// Whether both operations access the very same element for the same index, and no two indices
// share one as far as a sane program goes: the same pointer made of indices, sums and products
// alone (nothing loaded), or the same descriptor and offsets.
bool same_elements(const ir::Operation* first, const ir::Operation* second);

}  // namespace enceladus::loop
