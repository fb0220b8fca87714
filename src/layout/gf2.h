// Elimination over GF(2) on columns of up to 64 bits: the arithmetic under linear layouts. Not:
// names of dimensions or meanings of bits (layout/linear_layout.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace enceladus::layout {

// A set of columns reduced one by one. Remembers which of the inserted columns each reduced one is
// made of, so that it can solve as well as count.
class ColumnBasis {
 public:
  // Whether the column was independent of those before it. `index` < 64 names it in solutions.
  bool insert(uint64_t column, int index);
  int rank() const { return static_cast<int>(reduced_.size()); }
  // A set of inserted independent columns (a mask of their indices) whose sum is `target`; none
  // where the target lies outside their span.
  std::optional<uint64_t> solve(uint64_t target) const;

 private:
  struct Reduced {
    uint64_t column;
    uint64_t made_of;
    int pivot;  // the highest set bit of column, in no other one's pivot place above it
  };
  std::vector<Reduced> reduced_;  // by falling pivot
};

int rank(std::span<const uint64_t> columns);

}  // namespace enceladus::layout
