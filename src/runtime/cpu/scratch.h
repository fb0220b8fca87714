// Scratch memory of kernels: one block for each thread of the pool, grown on demand and kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/cpu/memory.h"
#include "support/cpu_abi.h"

namespace enceladus::cpu {

class Scratch {
 public:
  explicit Scratch(int threads) : blocks_(static_cast<std::size_t>(threads)) {}
  ~Scratch();

  // Makes every thread's block large enough for kernels with `bytes` of scratch. While no section
  // is open; throws std::bad_alloc.
  void reserve(int64_t bytes);

  // Memory for one thread, used by that thread alone: the header (support/cpu_abi.h), then what was
  // reserved. Aligned to 64. The contents survive until `reserve` asks for more.
  CpuScratchHeader* of_thread(int thread) const;

 private:
  struct alignas(64) Block {
    MemoryBlock memory;
  };
  std::vector<Block> blocks_;
  int64_t reserved_ = -1;
};

}  // namespace enceladus::cpu
