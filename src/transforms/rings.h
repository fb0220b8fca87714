// Gives the rings of SIMT IR their place in shared memory, behind the buffers, and their slots: the
// more, the further the producer may run ahead. Rings that may grow share what is left; the others
// keep what they ask for. Runs behind transforms/shared_memory.h, which tells what is taken.
//
//   %0 = ring {slots = 2, bytes = 49152, readers = 2, grow = 8} : i32
//     ->  %0 = ring {slots = 4, bytes = 49152, readers = 2, grow = 8, offset = 32768} : i32
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// Slots start on multiples of this.
inline constexpr int64_t kRingAlignment = 1024;

// The bytes used by all, from `taken` on. Throws CompilationFailure where they are more than
// `limit`.
int64_t place_rings(ir::Function& function, int64_t taken, int64_t limit);

}  // namespace enceladus::transforms
