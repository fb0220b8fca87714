// How a warp's matrix loads fill a fragment's registers: 8 rows of 16 bytes a matrix, of which each
// lane holds one word of a row (layouts of mma operands are made of these). Not: Metal's fragments.
#pragma once

#include <optional>

#include "lowering/tile_to_simt/layouts.h"

namespace enceladus::simt {

struct MatrixLoads {
  int matrices;     // of one load: 1, 2 or 4
  bool transposed;  // the rows in memory run along what a lane's word does not
  // (register, lane, warp) -> tile: the first element of the row that each lane points to, for each
  // load.
  LinearLayout rows;
};

// None where `to` is not made of matrices with rows along `axis`, or has free bits.
std::optional<MatrixLoads> matrix_loads(const LinearLayout& to, int axis, int element_bytes);

// Row-major with `axis` fastest, 16-byte pieces of a row exchanged by exclusive or with the row's
// number, so that 8 pieces of one column lie in different banks. Offset -> tile.
LinearLayout swizzled_memory(std::span<const int64_t> shape, int axis, int element_bytes);

// A layout with the register bits that lie on an axis lowest, in order; map[r]: the register that
// was r's before.
struct Arranged {
  LinearLayout layout;
  std::vector<int64_t> map;
};
Arranged along(const LinearLayout& layout, int axis);

}  // namespace enceladus::simt
