// Integers of a group as sums: what every coordinate of a loop nest is, and what most offsets and
// bounds made of coordinates are. In this form an access is seen to be contiguous, and a mask to be
// true for a whole range of turns.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include <optional>

namespace enceladus::cpu {

// base + step * turn + constant + pattern[lane], in 64 bits, exact. `turn` is the innermost loop's
// induction variable.
struct Affine {
  llvm::Value* base = nullptr;  // i64; null: 0
  int level = 0;                // the loop level that `base` belongs to (lane_evaluator.h)
  int64_t step = 0;
  int64_t constant = 0;
  llvm::SmallVector<int64_t, 16> pattern = {};  // empty: all zero

  bool is_constant() const { return base == nullptr && step == 0; }  // but for the pattern
  bool is_uniform() const { return pattern.empty(); }
  int64_t pattern_at(size_t lane) const { return pattern.empty() ? 0 : pattern[lane]; }
  // pattern[lane] == lane for all lanes.
  bool is_contiguous() const;
  int64_t smallest_pattern() const;
  int64_t largest_pattern() const;
  void scale(int64_t factor);  // all but the base
  void add_pattern(const Affine& other);
  bool operator==(const Affine&) const = default;
};

// The coordinates of the elements that the lanes stand for, an entry for each axis of a tile.
using Index = llvm::SmallVector<Affine, 4>;

}  // namespace enceladus::cpu
