#include "lowering/tile_to_simt/wgmma_layouts.h"

#include "support/check.h"

namespace enceladus::simt {
namespace {

constexpr int64_t kGroupThreads = 128;
constexpr int64_t kMostSums = 128;        // of a thread
constexpr int64_t kMostColumns = 256;     // of an instruction
constexpr int64_t kCoreRows = 8;          // of the matrices that the descriptor strides over
constexpr int64_t kTransposedDepth = 16;  // rows of an instruction's depth, of 16-bit elements
constexpr int64_t kUnusedStride = 16;

// Registers and lanes of 64 rows, then further rows; warps by `upper`, the images of the bits that
// tell groups apart.
LinearLayout rows_by_warps(std::span<const int64_t> shape, int64_t rows, int64_t columns,
                           std::span<const TileBit> upper) {
  std::vector<TileBit> registers = {{1, 0}, {0, 3}};
  for (int bit = 3; bit < log2_of(columns); ++bit) registers.push_back({1, bit});
  for (int bit = log2_of(kGroupRows); bit < log2_of(rows); ++bit) registers.push_back({0, bit});
  const std::vector<TileBit> lanes = {{1, 1}, {1, 2}, {0, 0}, {0, 1}, {0, 2}};
  std::vector<TileBit> warps = {{0, 4}, {0, 5}};
  warps.insert(warps.end(), upper.begin(), upper.end());
  return make_layout(shape, registers, lanes, warps);
}

int group_bits(int warp_bits) { return warp_bits - log2_of(kGroupWarps); }

}  // namespace

std::optional<GroupTile> group_tile(int64_t rows, int64_t columns, int warp_bits) {
  int bits = group_bits(warp_bits);
  if (bits < 0 || bits > 1 || rows < kGroupRows || columns < kCoreRows) return std::nullopt;
  GroupTile group{rows >> bits, columns, false};
  if (group.rows < kGroupRows) group = {rows, columns >> bits, true};
  bool fits = group.columns >= kCoreRows && group.columns <= kMostColumns &&
              group.rows * group.columns <= kMostSums * kGroupThreads;
  return fits ? std::optional(group) : std::nullopt;
}

LinearLayout wgmma_layout(std::span<const int64_t> shape, const GroupTile& group, int warp_bits) {
  std::vector<TileBit> upper;
  for (int bit = 0; bit < group_bits(warp_bits); ++bit)
    upper.push_back(group.splits_columns ? TileBit{1, log2_of(group.columns) + bit}
                                         : TileBit{0, log2_of(group.rows) + bit});
  return rows_by_warps(shape, group.rows, group.columns, upper);
}

LinearLayout wgmma_operand_layout(std::span<const int64_t> shape, const GroupTile& group,
                                  int warp_bits) {
  std::vector<TileBit> upper;
  for (int bit = 0; bit < group_bits(warp_bits); ++bit)
    upper.push_back(group.splits_columns ? TileBit() : TileBit{0, log2_of(group.rows) + bit});
  return rows_by_warps(shape, group.rows, shape[1], upper);
}

std::vector<int64_t> wgmma_place(const layout::SwizzledTile& tile, bool along_depth) {
  int64_t row = tile.row_bytes();
  int64_t stride = kCoreRows * row;
  if (along_depth)
    return {0,
            row,
            kUnusedStride,
            stride,
            kInstructionBytes,
            row / kInstructionBytes,
            tile.panel_bytes(),
            kGroupRows * row};
  int64_t steps = tile.rows / kTransposedDepth;
  return {1,
          row,
          tile.panel_bytes(),
          stride,
          kTransposedDepth * row,
          steps,
          0,
          tile.panel_bytes() * (kGroupRows / tile.panel_columns())};
}

int64_t group_bytes(const layout::SwizzledTile& tile, bool along_depth, int64_t across) {
  if (along_depth) return across * tile.row_bytes();
  ENC_CHECK(across % tile.panel_columns() == 0);
  return across / tile.panel_columns() * tile.panel_bytes();
}

}  // namespace enceladus::simt
