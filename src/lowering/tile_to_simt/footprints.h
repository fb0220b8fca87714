// Whether the threads of an access keep to themselves: where no two elements of its tile lie at one
// address, each is touched by the thread that holds it alone, and a later access by the same
// pointers needs no barrier. For accesses in a loop also whether one turn's addresses meet those of
// another. Changes nothing.
#pragma once

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

class Footprints {
 public:
  Footprints(const ir::Function& function, const analysis::Facts& facts)
      : forms_(function, analysis::AffineForms::Meaning::kExact, &facts) {}

  // Of an access by a tile of pointers.
  Exclusive of(const ir::Operation& access);

 private:
  analysis::AffineForms forms_;
};

}  // namespace enceladus::simt
