#include "runtime/cpu/scratch.h"

#include <algorithm>

namespace enceladus::cpu {

Scratch::~Scratch() {
  for (const Block& block : blocks_)
    if (block.memory.data) free_memory(block.memory);
}

void Scratch::reserve(int64_t bytes) {
  if (bytes <= reserved_) return;
  const int64_t wanted = std::max(bytes, 2 * reserved_);
  for (Block& block : blocks_) {
    if (block.memory.data) free_memory(block.memory);
    block.memory = {};
    block.memory =
        allocate_memory(static_cast<int64_t>(kScratchHeaderBytes) + wanted, /*zeroed=*/true);
  }
  reserved_ = wanted;
}

CpuScratchHeader* Scratch::of_thread(int thread) const {
  return static_cast<CpuScratchHeader*>(blocks_[static_cast<size_t>(thread)].memory.data);
}

}  // namespace enceladus::cpu
