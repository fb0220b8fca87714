// Puts barriers where one thread of a program may touch what another one did before. Runs last on
// SIMT IR, when shared buffers have their places.
//
// Two accesses conflict where one of them writes, the bytes may be the same and the threads may
// differ. Walking in program order, the pass keeps what has been accessed since the last barrier;
// an access that conflicts with one of these gets a barrier before it, which makes all of its
// memory known and so ends what it covers. A loop's body is walked twice: the second time behind
// what its own end left open, so that a conflict across turns gets its barrier too; a branch leaves
// open what either side does. A conflict with what came before a loop gets its barrier before the
// loop where that saves one in every turn. Conditions are the same in all threads, so a barrier may
// stand anywhere.
//
// Not a conflict: accesses by the same thread to the same bytes (equal pointers whose elements lie
// apart, also from turn to turn; the first thread alone), arrays that do not overlap
// (analysis/effects.h), shared buffers at other places, atomics of one kind whose old values nobody
// uses. Where the launch's strides decide whether elements lie apart, the barrier waits only where
// they do not.
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Whether any was put in.
bool insert_barriers(ir::Function& function);

}  // namespace enceladus::transforms
