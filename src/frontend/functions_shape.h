// Shape changes that expressions use too: `x[:, None]` and `x.T`.
#pragma once

#include "frontend/context.h"

namespace enceladus::frontend {

// The tile (or scalar) under a shape that has the same extents and further ones of 1.
Value with_new_dimensions(Context& context, ir::Value* value, std::span<const int64_t> shape);
// The last two dimensions exchanged.
Value transposed(Context& context, ir::Value* tile);

}  // namespace enceladus::frontend
