// The layouts of a dot's operands and result over the fragments of a matrix instruction.
//
// Warps form a grid over the result, by `dot_warps` or stacked along its rows: each takes a
// contiguous part of its rows and columns. Where
// the tile has fewer rows or columns than a fragment, position bits are free and the fragment holds
// copies, so that any M and N work. Register bits ascend: those within a fragment, fragments along
// the row, fragments along the column, the batch.
#pragma once

#include <array>

#include "ir/ir.h"
#include "lowering/tile_to_simt/layouts.h"
#include "lowering/tile_to_simt/target.h"

namespace enceladus::simt {

struct FragmentLayouts {
  LinearLayout a, b, accumulator;
  std::array<int64_t, 4> fragments;  // batch, m, n, k in each warp
};
// Throws CompilationFailure where `dot_warps` asks for warps of less than a fragment.
FragmentLayouts fragment_layouts(const ir::Operation& dot, const MatrixInstruction& instruction,
                                 int warp_bits);

// A result that is multiplied by blocks of registers (dot_blocks.cpp).
LinearLayout block_layout(std::span<const int64_t> shape, int warp_bits);

// What the result of a dot, by fragments or not, is left in.
LinearLayout accumulator_layout(const ir::Operation& dot, const SimtTarget& target, int warp_bits);

}  // namespace enceladus::simt
