// How a tile lies in shared memory when Hopper's copy engine (TMA) writes it there and its tensor
// cores (wgmma) read it: in panels of rows of 32, 64 or 128 bytes, whose 16-byte chunks change
// places with the row, so that neither a row nor a column of chunks meets a bank twice. Not: who
// copies what, nor anything of the IR.
#pragma once

#include <cstdint>
#include <optional>

#include "layout/linear_layout.h"

namespace enceladus::layout {

struct SwizzledTile {
  int64_t rows = 0;     // powers of two, as the columns
  int64_t columns = 0;  // the axis that is contiguous in memory
  int element_bytes = 0;

  // Of a panel's row: the tile's row where it is shorter than 128 bytes.
  int64_t row_bytes() const;
  int64_t panel_columns() const { return row_bytes() / element_bytes; }
  int64_t panel_bytes() const { return rows * row_bytes(); }
  int64_t panels() const { return columns / panel_columns(); }
  int64_t bytes() const { return rows * columns * element_bytes; }
  bool operator==(const SwizzledTile&) const = default;
};

// None where the hardware has no such form: rows of less than 32 bytes, fewer than 8 or more than
// 256 of them (a panel is one box of a copy).
std::optional<SwizzledTile> swizzled_tile(int64_t rows, int64_t columns, int element_bytes);

// kOffset, in elements, -> the tile's axes 0 (rows) and 1 (columns): a bijection. The first panel's
// first byte lies on a multiple of 1024.
LinearLayout memory_layout(const SwizzledTile& tile);

}  // namespace enceladus::layout
