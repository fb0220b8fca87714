#include "layout/swizzle.h"

#include <algorithm>
#include <array>
#include <bit>

namespace enceladus::layout {
namespace {

constexpr int64_t kWidestRow = 128;
constexpr int64_t kNarrowestRow = 32;
constexpr int64_t kFewestRows = 8;
constexpr int64_t kMostRows = 256;
constexpr int kChunkBits = 4;      // 16 bytes
constexpr int kSwizzlingBits = 7;  // the lowest bit of the byte's number that moves chunks

int bits_of(int64_t power_of_two) { return std::countr_zero(static_cast<uint64_t>(power_of_two)); }

}  // namespace

int64_t SwizzledTile::row_bytes() const { return std::min(kWidestRow, columns * element_bytes); }

std::optional<SwizzledTile> swizzled_tile(int64_t rows, int64_t columns, int element_bytes) {
  SwizzledTile tile{rows, columns, element_bytes};
  if (rows < kFewestRows || rows > kMostRows || tile.row_bytes() < kNarrowestRow)
    return std::nullopt;
  return tile;
}

// The hardware xors bits 7, 8, 9 of the byte's number into its bits 4, 5, 6: as many as a row has
// bits of chunks. So an address bit that selects a row also moves the chunk.
LinearLayout memory_layout(const SwizzledTile& tile) {
  const std::array<int64_t, 2> shape = {tile.rows, tile.columns};
  Space out = Space::tile(shape);
  int element = bits_of(tile.element_bytes), row = bits_of(tile.row_bytes());
  int chunks = row - kChunkBits, rows = bits_of(tile.rows);
  auto at = [&](int axis, int bit) { return uint64_t{1} << (out.offset(axis_dim(axis)) + bit); };
  std::vector<uint64_t> basis;
  for (int bit = element; bit < row; ++bit) basis.push_back(at(1, bit - element));
  for (int bit = row; bit < row + rows; ++bit) {
    uint64_t image = at(0, bit - row);
    int chunk = bit - kSwizzlingBits;
    if (chunk >= 0 && chunk < chunks) image ^= at(1, kChunkBits - element + chunk);
    basis.push_back(image);
  }
  for (int bit = row - element; bit < bits_of(tile.columns); ++bit) basis.push_back(at(1, bit));
  Space in{{Dim::kOffset, static_cast<int>(basis.size())}};
  return LinearLayout(std::move(in), std::move(out), std::move(basis));
}

}  // namespace enceladus::layout
