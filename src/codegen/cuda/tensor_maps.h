// The tensor maps that a kernel takes behind its parameters, in the order of its `tensor_map`
// operations: what the runtime encodes at each launch. Not: what goes into them
// (lowering/tile_to_simt/tensor_maps.h).
#pragma once

#include <vector>

#include "ir/ir.h"
#include "support/artifact.h"

namespace enceladus::cuda {

std::vector<const ir::Operation*> tensor_map_operations(const ir::Function& function);

TensorMap tensor_map_of(const ir::Operation& op);

}  // namespace enceladus::cuda
