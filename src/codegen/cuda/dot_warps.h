// The grid of warps over the dots of a kernel whose launch leaves it open: as square a part of the
// result for each warp as there is, so that its operands are read least often. Kernels whose rows
// go on to a reduction or another dot keep the default, whole rows for each warp. Not: what a
// launch asks for.
#pragma once

#include "ir/ir.h"

namespace enceladus::cuda {

// Sets the function's dot_warps where they are open and every dot has room for them.
void choose_dot_warps(ir::Function& tile);

}  // namespace enceladus::cuda
