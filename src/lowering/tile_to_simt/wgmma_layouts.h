// Layouts of Hopper's asynchronous products: what a group's threads hold of the result, and how
// the instruction finds operands in swizzled shared memory.
//
// A group of four warps computes 64 rows an instruction: warp w rows 16w to 16w + 15, of which lane
// l has rows l / 4 and l / 4 + 8, and there columns 8j + 2 (l % 4) and the next for every j. An
// operand A in registers lies the same way, depth for columns, so that the result of one product is
// the operand of the next without a move.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "layout/swizzle.h"
#include "lowering/tile_to_simt/layouts.h"

namespace enceladus::simt {

inline constexpr int kGroupWarps = 4;
inline constexpr int64_t kGroupRows = 64;
inline constexpr int64_t kInstructionBytes = 32;  // of an instruction's depth

// How the groups share a product of rows x columns.
struct GroupTile {
  int64_t rows = 0, columns = 0;  // of each group
  bool splits_columns = false;    // between groups; else they split rows
};
// None where the groups cannot share it evenly, 64 rows each, or a thread would hold more than 128
// sums.
std::optional<GroupTile> group_tile(int64_t rows, int64_t columns, int warp_bits);

// Of the result.
LinearLayout wgmma_layout(std::span<const int64_t> shape, const GroupTile& group, int warp_bits);
// Of A in registers.
LinearLayout wgmma_operand_layout(std::span<const int64_t> shape, const GroupTile& group,
                                  int warp_bits);

// The numbers of a place as in ir/async_ops.def. `along_depth`: the tile's columns run along the
// depth; else its rows do, which only 16-bit elements may.
std::vector<int64_t> wgmma_place(const layout::SwizzledTile& tile, bool along_depth);

// Bytes from a group's part of an operand to the next group's; 0 where all groups read the same.
int64_t group_bytes(const layout::SwizzledTile& tile, bool along_depth, int64_t across);

}  // namespace enceladus::simt
