// What it takes to bring a tile from one distributed layout (register, lane, warp -> tile) to
// another, and where elements lie in shared memory on the way. Not: the code that does it.
#pragma once

#include "layout/linear_layout.h"

namespace enceladus::layout {

enum class ConversionKind : uint8_t {
  kNone,       // every thread already holds its elements in its registers, in order
  kRegisters,  // each thread rearranges or copies its own registers
  kShuffle,    // elements cross lanes of one warp
  kShared,     // elements cross warps: through shared memory
};

struct Conversion {
  ConversionKind kind;
  // For each (register, lane, warp) of the target the position of the source to take from.
  LinearLayout pull;
  // kShuffle: how many shuffles a target register needs, as the source register may depend on
  // bits of the target lane (each such bit doubles the number).
  int shuffles_per_register = 0;
};

// Both map (register, lane, warp) to the same tile and are surjective on it.
Conversion classify(const LinearLayout& from, const LinearLayout& to);

// The registers, as bits of the register dimension from the lowest, that hold consecutive elements
// of `memory` (offset -> tile, a bijection): a thread may access 2^result elements at once. Limited
// by `max_bits`; `aligned` elements is what the base address is known to be a multiple of.
int contiguous_register_bits(const LinearLayout& distributed, const LinearLayout& memory,
                             int max_bits);

// Shared memory of a processor: `banks` words that can be served at once.
struct SharedMemory {
  int element_bytes;
  int max_vector_bytes = 16;
  int banks = 32;
  int bank_bytes = 4;
};

struct SharedLayout {
  LinearLayout memory;  // kOffset -> tile, a bijection
  int vector_bits;      // 2^vector_bits elements a thread moves at once, on both sides
};

// A placement that both layouts access in the widest vectors they share and, where one exists,
// without bank conflicts on either side.
SharedLayout choose_shared_layout(const LinearLayout& writer, const LinearLayout& reader,
                                  const SharedMemory& shared);

// The most accesses that one bank gets in one step of an access by vectors of 2^vector_bits
// elements: 1 is free of conflicts. By enumeration; for tests, explain and choosing.
int bank_conflicts(const LinearLayout& distributed, const SharedLayout& placement,
                   const SharedMemory& shared);

}  // namespace enceladus::layout
