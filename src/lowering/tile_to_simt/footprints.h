// Whether the threads of an access keep to themselves: where no two elements of its tile lie at one
// address, each is touched by the thread that holds it alone, and a later access by the same
// pointers needs no barrier. For accesses in a loop also whether one turn's addresses meet those of
// another. Where one stride is known at the launch only, it is said how large it must be. Changes
// nothing.
#pragma once

#include <optional>

#include "analysis/affine.h"
#include "ir/ir.h"

namespace enceladus::simt {

// As the attribute `exclusive` of loads and stores in the SIMT IR.
enum Exclusive : int64_t {
  kNotExclusive = 0,
  kDistinct = 1,           // no two elements of one execution
  kDistinctOverTurns = 2,  // nor of two turns of the innermost loop around it
  kOneThread = 3,          // the program's first thread alone makes the access
};

// Elements lie apart where |stride| is at least the smaller of `reach` and `limit`: of the axes
// with known strides, how far the elements of the tile reach, and those that the mask leaves.
struct Apart {
  analysis::Sum stride;
  int64_t reach = 1;
  std::optional<analysis::Sum> limit;
};

struct Footprint {
  Exclusive exclusive = kNotExclusive;
  std::optional<Apart> provided;  // what `exclusive` depends on
};

class Footprints {
 public:
  Footprints(const ir::Function& function, const analysis::Facts& facts)
      : facts_(facts),
        forms_(function, analysis::AffineForms::Meaning::kExact, &facts),
        mask_forms_(function, analysis::AffineForms::Meaning::kWrapping, &facts) {}

  // Of a load or store by a tile of pointers or by a descriptor.
  Footprint of(const ir::Operation& access);

 private:
  Footprint of_pointers(const ir::Operation& access);
  Footprint of_block(const ir::Operation& access);
  std::optional<analysis::Sum> masked_extent(const ir::Operation& access, int axis);

  const analysis::Facts& facts_;
  analysis::AffineForms forms_, mask_forms_;
};

}  // namespace enceladus::simt
