// Range: an interval of 64-bit integers, both ends included. The arithmetic gives the interval of
// the exact results, saturated at 64 bits. Not: the analysis that finds them (facts.h).
#pragma once

#include <cstdint>
#include <limits>

#include "ir/type.h"

namespace enceladus::analysis {

struct Range {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();

  static Range all() { return {}; }
  static Range of(int64_t value) { return {value, value}; }
  // Every value of the dtype; all() for uint64, whose upper half an int64 cannot hold (a range
  // with a negative end says nothing about a uint64).
  static Range of_dtype(DType dtype);

  bool is_all() const { return *this == Range(); }
  bool is_single() const { return low == high; }
  bool contains(const Range& other) const { return low <= other.low && other.high <= high; }
  bool operator==(const Range&) const = default;
};

Range hull(const Range& a, const Range& b);
Range intersection(const Range& a, const Range& b);  // `a` where they do not meet
Range operator+(const Range& a, const Range& b);
Range operator-(const Range& a, const Range& b);
Range operator*(const Range& a, const Range& b);
Range truncated_quotient(const Range& a, const Range& b);   // by 0 gives 0
Range truncated_remainder(const Range& a, const Range& b);  // by 0 gives the dividend
Range minimum(const Range& a, const Range& b);
Range maximum(const Range& a, const Range& b);

}  // namespace enceladus::analysis
