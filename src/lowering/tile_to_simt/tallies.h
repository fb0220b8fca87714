// Tallies: integer sums by atomics that are counted in shared memory first.
//
// A tile of atomic additions to base + index, whose old values nobody uses, becomes for each
// element an addition to a tally, where the index lies in [0, elements), else one to device memory.
// When the tally's scope ends, its counts are added to what lies behind the base, one atomic for
// each that is not 0. The scope is the outermost loop within which nothing else may notice the
// delay, or the operation alone. So programs that count into few bins meet in device memory once a
// bin, not once an element. Finds them only; how they are computed is atomics.cpp.
#pragma once

#include <map>
#include <vector>

#include "analysis/effects.h"
#include "ir/ir.h"
#include "lowering/tile_to_simt/target.h"

namespace enceladus::simt {

struct Tally {
  const ir::Operation* atomic;
  const ir::Operation* scope;  // a `for` around the atomic, or itself
  const ir::Value* base;       // a pointer
  const ir::Value* index;      // a tile
  int64_t elements;            // a power of two
};

class Tallies {
 public:
  Tallies(const ir::Function& function, const SimtTarget& target);

  // Null where it is not counted so.
  const Tally* of(const ir::Operation& atomic) const;
  std::vector<const Tally*> of_scope(const ir::Operation& scope) const;

 private:
  std::map<const ir::Operation*, Tally> tallies_;  // by atomic
};

}  // namespace enceladus::simt
