// The cone of a tile value: everything pure that must be computed, element by element, to get it:
// back to scalars, memory and tiles in scratch. What the planner asks of it: which loads it makes,
// which tiles it reads and whether at the group's own index, and what it costs to compute again.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace enceladus::loop {

// How a value is indexed, seen from a group: at the group's own index, or through a broadcast,
// reshape or transposition.
enum class Indexing : uint8_t { kOwn, kOther };

struct ConeEntry {
  const ir::Value* value;
  Indexing indexing;
};

struct Cone {
  std::vector<ConeEntry> computed;  // pure tile operations and loads, operands first
  std::vector<ConeEntry> stored;    // tiles that lie in scratch
  std::vector<const ir::Value*> scalars;
};

// `is_stored` tells by Value::id() which tiles lie in scratch.
class ConeWalk {
 public:
  ConeWalk(const ir::Function& function, const std::vector<char>& is_stored)
      : is_stored_(is_stored), seen_(function.value_count(), 0) {}

  // Adds the cone of `value`, which may be a scalar or a descriptor.
  void add(const ir::Value* value, Indexing indexing, Cone& cone);
  // Adds the cones of the operands of the operation that defines `value`, and `value` itself as
  // computed: for a tile that the group itself writes to scratch.
  void add_definition(const ir::Value* value, Cone& cone);
  void reset();  // forget what was seen

 private:
  bool mark(const ir::Value* value, Indexing indexing);

  const std::vector<char>& is_stored_;
  std::vector<char> seen_;
  std::vector<uint32_t> touched_;
};

// Cost of computing one vector of the value again, in simple instructions. Tiles in scratch and
// scalars are free.
int recompute_cost(const Cone& cone);

// Whether the tile can only come from scratch: the results of reductions, scans, products, atomics
// and control operations, and what loops carry.
bool must_be_stored(const ir::Value* value);

}  // namespace enceladus::loop
