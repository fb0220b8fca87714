// Memory of the CPU target: aligned for vectors, and on huge pages where that pays. Freed blocks
// go back to the system; nothing is cached here.
#pragma once

#include <cstdint>

namespace enceladus::cpu {

struct MemoryBlock {
  void* data = nullptr;
  int64_t bytes = 0;   // as asked for
  int64_t mapped = 0;  // bytes to unmap; 0 for memory from the C library
  bool operator==(const MemoryBlock&) const = default;
};

// Aligned to 64 bytes, from 4 MiB on to 2 MiB. Throws std::bad_alloc. Zero bytes give a valid
// pointer of their own.
MemoryBlock allocate_memory(int64_t bytes, bool zeroed);
void free_memory(const MemoryBlock& block);

}  // namespace enceladus::cpu
