// Gives every shared buffer of SIMT IR its place. Buffers that are alive at different times share
// bytes: a buffer lives from its first access to its last one, through the whole of a loop that
// holds one of them but not its definition. Runs behind the lowering, when every buffer is there,
// and before the barriers, which look at who shares bytes.
//
//   %0 = shared_buffer {bytes = 64} : i32  ->  %0 = shared_buffer {bytes = 64, offset = 128} : i32
#pragma once

#include "ir/ir.h"

namespace enceladus::transforms {

// The bytes used, a multiple of 16. Throws CompilationFailure where they are more than `limit`,
// with the line and size of each buffer alive there. Where all buffers together take no more than
// `ample` bytes they share none, which saves barriers.
int64_t place_shared_memory(ir::Function& function, int64_t limit, int64_t ample = 0);

}  // namespace enceladus::transforms
