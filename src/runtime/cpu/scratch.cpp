#include "runtime/cpu/scratch.h"

#include <algorithm>

namespace enceladus::cpu {

namespace {

constexpr int64_t kHeaderBytes = 64;  // see support/cpu_abi.h

}  // namespace

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
    block.memory = allocate_memory(kHeaderBytes + wanted, /*zeroed=*/true);
  }
  reserved_ = wanted;
}

void* Scratch::prepare(int thread, uint64_t generation) const {
  void* memory = blocks_[static_cast<size_t>(thread)].memory.data;
  *static_cast<uint64_t*>(memory) = generation;
  return memory;
}

}  // namespace enceladus::cpu
