// AxisInfo: what is known about the elements of a tile along each axis; powers of two.
//
//   contiguity    elements come in aligned runs of this length, each one more than the one before
//   divisibility  the first element of every such run is a multiple of this (pointers: of bytes)
//   constancy     elements come in aligned runs of this length of equal elements
//
// A scalar uses axis 0 with contiguity and constancy 1. The analysis that fills it in is facts.h.
#pragma once

#include <array>
#include <cstdint>

#include "ir/type.h"

namespace enceladus::analysis {

inline constexpr int64_t kMaxDivisibility = int64_t{1} << 62;

struct AxisFacts {
  int64_t contiguity = 1;
  int64_t divisibility = 1;
  int64_t constancy = 1;
  bool operator==(const AxisFacts&) const = default;
};

struct AxisInfo {
  std::array<AxisFacts, ir::kMaxRank> axes{};
  const AxisFacts& axis(int index) const { return axes[static_cast<size_t>(index)]; }
  AxisFacts& axis(int index) { return axes[static_cast<size_t>(index)]; }
  bool operator==(const AxisInfo&) const = default;
};

// The largest power of two that divides the value; kMaxDivisibility for 0.
int64_t power_of_two_divisor(int64_t value);

}  // namespace enceladus::analysis
