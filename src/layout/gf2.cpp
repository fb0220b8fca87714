#include "layout/gf2.h"

#include <algorithm>
#include <bit>

namespace enceladus::layout {

bool ColumnBasis::insert(uint64_t column, int index) {
  uint64_t made_of = uint64_t{1} << index;
  for (const Reduced& other : reduced_) {
    if (!(column >> other.pivot & 1)) continue;
    column ^= other.column;
    made_of ^= other.made_of;
  }
  if (column == 0) return false;
  int pivot = std::bit_width(column) - 1;
  auto place = std::find_if(reduced_.begin(), reduced_.end(),
                            [&](const Reduced& other) { return other.pivot < pivot; });
  reduced_.insert(place, {column, made_of, pivot});
  return true;
}

std::optional<uint64_t> ColumnBasis::solve(uint64_t target) const {
  uint64_t solution = 0;
  for (const Reduced& other : reduced_) {
    if (!(target >> other.pivot & 1)) continue;
    target ^= other.column;
    solution ^= other.made_of;
  }
  if (target != 0) return std::nullopt;
  return solution;
}

int rank(std::span<const uint64_t> columns) {
  ColumnBasis basis;
  for (uint64_t column : columns) basis.insert(column, 0);
  return basis.rank();
}

}  // namespace enceladus::layout
