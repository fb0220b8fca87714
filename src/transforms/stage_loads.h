// Lets the loads that feed the dots of a loop run ahead of it: each goes to a ring in shared memory
// of `num_stages` slots, filled num_stages - 1 turns before its turn comes. Runs on tile IR behind
// the tile passes, for targets that copy to shared memory asynchronously; the lowering makes the
// copies asynchronous where their alignment allows.
//
//   %c = for %k = %lo to %hi step %s carry (%acc = %z) {       %r = stage_buffer ...
//     %a = load %p(k)                                          store a(lo), a(lo + s) ... if < hi
//     %d = dot %a, ...                                         for ... carry (%acc, %read, %write)
//     yield %d                                                   stage_wait
//   }                                                            store a(k + (n - 1) s) if < hi
//                                                                %a = stage_load %r, %read
//
// A load qualifies where its address depends on the loop's index and on nothing else that the loop
// changes, nothing in the loop may write what it reads, and the loop's step is a positive constant.
// One that cannot be copied asynchronously is loaded at the start of the turn before its own, held
// in registers, and stored at that turn's end to one of two slots.
#pragma once

#include "analysis/facts.h"
#include "ir/ir.h"

namespace enceladus::transforms {

struct StagingLimits {
  int64_t bytes;       // that the slots of one loop may take
  int default_stages;  // where neither the loop nor the launch says how many
  // Whether a dot reads its operands from slots, and whether a load can be copied to one.
  bool (*reads_stages)(const ir::Operation& dot);
  bool (*is_copied)(const ir::Operation& load, const analysis::Facts& facts);
};

// Whether any load was staged. A loop's `num_stages` of 1 leaves it as it is.
bool stage_loads(ir::Function& function, const StagingLimits& limits);

}  // namespace enceladus::transforms
