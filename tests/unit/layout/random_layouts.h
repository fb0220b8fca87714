// Random layouts for property tests: seeded, small enough to enumerate.
#pragma once

#include <algorithm>
#include <random>

#include "layout/linear_layout.h"

namespace enceladus::layout {

class RandomLayouts {
 public:
  explicit RandomLayouts(uint32_t seed) : random_(seed) {}

  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  // A surjective map of (register, lane, warp) on the tile: a permutation of the tile's bits, mixed
  // by random additions, with `copies` free bits at random places.
  LinearLayout distributed(const Space& tile, int registers, int lanes, int warps) {
    int inputs = registers + lanes + warps;
    std::vector<uint64_t> basis;
    for (int bit = 0; bit < tile.bits(); ++bit) basis.push_back(uint64_t{1} << bit);
    for (int round = 0; round < 8 && tile.bits() > 1; ++round) {
      auto i = static_cast<size_t>(number(0, tile.bits() - 1));
      auto j = static_cast<size_t>(number(0, tile.bits() - 1));
      if (i != j) basis[i] ^= basis[j];
    }
    while (static_cast<int>(basis.size()) < inputs) basis.push_back(0);
    std::shuffle(basis.begin(), basis.end(), random_);
    return LinearLayout(
        Space{{Dim::kRegister, registers}, {Dim::kLane, lanes}, {Dim::kWarp, warps}}, tile, basis);
  }

 private:
  std::mt19937 random_;
};

}  // namespace enceladus::layout
