// Memory allocated by the CPU device.
#pragma once

#include "runtime/common/buffer.h"
#include "runtime/cpu/memory.h"

namespace enceladus::cpu {

class CpuBuffer : public Buffer {
 public:
  explicit CpuBuffer(const MemoryBlock& block) : Buffer(block.data, block.bytes), block_(block) {}
  ~CpuBuffer() override { free_memory(block_); }

 private:
  MemoryBlock block_;
};

}  // namespace enceladus::cpu
