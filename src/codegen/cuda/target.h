// What NVIDIA's GPUs from sm_80 on have, for the lowering: the matrix instructions of a warp and
// their fragments, as the PTX manual draws them. Not: words of the language (dialect.h).
#pragma once

#include <string_view>

#include "lowering/tile_to_simt/target.h"

namespace enceladus::cuda {

const simt::SimtTarget& simt_target();

// By name (`m16n8k16`); null where there is none.
const simt::MatrixInstruction* matrix_instruction(std::string_view name);

}  // namespace enceladus::cuda
