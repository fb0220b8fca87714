// Where a kernel expects each parameter. Compiled kernels take pointers in order from buffer 0,
// then all scalars packed into one struct, then, where they may report failed assertions, the
// buffer for that; hand-written ones take every parameter where their source says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/artifact.h"

namespace enceladus::metal {

inline constexpr uint32_t kMostBuffers = 31;
inline constexpr uint32_t kMostScalarBytes = 4096;  // of setBytes

struct PointerArgument {
  uint32_t parameter;
  uint32_t index;
};

// Scalars that one setBytes call passes.
struct ScalarBlock {
  struct Field {
    uint32_t parameter;
    uint32_t offset;
    uint32_t bytes;
  };
  uint32_t index = 0;
  uint32_t bytes = 0;
  std::vector<Field> fields;
};

struct ArgumentLayout {
  std::vector<PointerArgument> pointers;
  std::vector<ScalarBlock> scalars;
  int32_t failure_index = -1;  // -1: the kernel reports nothing
};

// Throws std::runtime_error where Metal's limits do not allow it.
ArgumentLayout layout_arguments(const Artifact& artifact);

// Writes a block's scalars, natural alignment, little-endian; `to` takes `block.bytes` bytes.
void pack_scalars(const ScalarBlock& block, const uint64_t* slots, char* to);

}  // namespace enceladus::metal
