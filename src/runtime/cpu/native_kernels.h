// Kernels that the runtime brings along, written in C++ against the CPU ABI: they go through the
// queue like compiled ones. Not a library of operations; only what tensors and timing need.
#pragma once

#include "runtime/common/buffer.h"
#include "runtime/common/philox.h"
#include "runtime/common/stream.h"

namespace enceladus::cpu {

// Queues the filling of `count` elements in `memory`, which the launch keeps alive.
Ticket enqueue_random_fill(Stream& stream, const RandomFill& fill, int64_t count, Buffer& memory);

// Queues a walk over more memory than the last cache holds, so that the next launch finds nothing
// of its own there.
Ticket enqueue_cache_eviction(Stream& stream);

}  // namespace enceladus::cpu
