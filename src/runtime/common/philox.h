// Philox 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011), and the
// random tensors made of it. The numbers are part of the contract: whatever fills a tensor, on
// whichever target, gives the same bits, so everything here is integers and single IEEE operations
// in a fixed order (the build forbids contraction), never the C library's logarithm or cosine.
#pragma once

#include <array>
#include <cstdint>

#include "support/dtype.h"

namespace enceladus {

using PhiloxBlock = std::array<uint32_t, 4>;

PhiloxBlock philox(PhiloxBlock counter, std::array<uint32_t, 2> key);

enum class Distribution : uint8_t { kUniform, kNormal };

// Elements that one block of the generator gives: 4, or 2 of float64.
int64_t elements_per_block(DType dtype);

// Writes elements [first, last) of a random array of a float type. Element i comes from block
// `offset + i / elements_per_block`, so any split of the array gives the same numbers. Uniform
// numbers are multiples of 2^-24 in [0, 1) (float32; 2^-53, 2^-11, 2^-8 for float64, float16,
// bfloat16); normal ones come from the Box-Muller transform in double, rounded once.
struct RandomFill {
  void* data;
  DType dtype;
  Distribution distribution;
  uint64_t seed;
  uint64_t offset;
};
void fill_random(const RandomFill& fill, int64_t first, int64_t last);

}  // namespace enceladus
