// The layouts of a dot's operands and result over 8x8 matrix fragments.
//
// In a fragment each lane holds two neighbouring elements of a row (the hardware's layout, see
// kFragment in fragments.cpp). Warps form a grid over the result: each takes a contiguous part of
// its rows and columns. Where the tile has fewer than 8 rows or columns, lane bits are free and the
// fragment holds copies, so that any M and N work. Register bits ascend: the pair, fragments along
// the row, fragments along the column, the batch.
#pragma once

#include <array>

#include "ir/ir.h"
#include "lowering/tile_to_simt/layouts.h"

namespace enceladus::simt {

struct FragmentLayouts {
  LinearLayout a, b, accumulator;
  std::array<int64_t, 4> fragments;  // batch, m, n, k in each warp
};
FragmentLayouts fragment_layouts(const ir::Operation& dot, int warp_bits);

// What the result of a dot, by fragments or not, is left in.
LinearLayout accumulator_layout(const ir::Operation& dot, int warp_bits);

// Whether the operands' types have fragments; others are multiplied element by element.
bool has_fragments(const ir::Operation& dot);

}  // namespace enceladus::simt
