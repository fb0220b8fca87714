#include "analysis/range.h"

#include <algorithm>

namespace enceladus::analysis {
namespace {

using Wide = __int128;

int64_t saturate(Wide value) {
  constexpr Wide low = std::numeric_limits<int64_t>::min();
  constexpr Wide high = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(value, low, high));
}

}  // namespace

Range Range::of_dtype(DType dtype) {
  int width = bit_width(dtype);
  if (is_float(dtype) || width == 64) return all();
  if (is_unsigned(dtype)) return {0, (int64_t{1} << width) - 1};
  int64_t half = int64_t{1} << (width - 1);
  return {-half, half - 1};
}

Range hull(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Range intersection(const Range& a, const Range& b) {
  Range common{std::max(a.low, b.low), std::min(a.high, b.high)};
  return common.low <= common.high ? common : a;
}

Range operator+(const Range& a, const Range& b) {
  return {saturate(Wide(a.low) + b.low), saturate(Wide(a.high) + b.high)};
}

Range operator-(const Range& a, const Range& b) {
  return {saturate(Wide(a.low) - b.high), saturate(Wide(a.high) - b.low)};
}

Range operator*(const Range& a, const Range& b) {
  auto [low, high] = std::minmax(
      {Wide(a.low) * b.low, Wide(a.low) * b.high, Wide(a.high) * b.low, Wide(a.high) * b.high});
  return {saturate(low), saturate(high)};
}

Range truncated_quotient(const Range& a, const Range& b) {
  // The quotient's size is greatest for the divisor nearest to 0 on either side.
  Range result = Range::of(0);
  bool first = !(b.low <= 0 && b.high >= 0);
  auto divide = [&](int64_t divisor) {
    if (divisor == 0 || divisor < b.low || divisor > b.high) return;
    for (int64_t dividend : {a.low, a.high}) {
      int64_t quotient = saturate(Wide(dividend) / divisor);
      result = first ? Range::of(quotient) : hull(result, Range::of(quotient));
      first = false;
    }
  };
  for (int64_t divisor : {b.low, b.high, int64_t{-1}, int64_t{1}}) divide(divisor);
  return a.low <= 0 && a.high >= 0 ? hull(result, Range::of(0)) : result;
}

Range truncated_remainder(const Range& a, const Range& b) {
  Wide size =
      std::max(b.low < 0 ? -Wide(b.low) : Wide(b.low), b.high < 0 ? -Wide(b.high) : Wide(b.high));
  if (b.low <= 0 && b.high >= 0) return hull(a, Range::of(0));  // by 0: the dividend itself
  int64_t bound = saturate(size - 1);
  return {a.low < 0 ? std::max(a.low, -bound) : 0, a.high > 0 ? std::min(a.high, bound) : 0};
}

Range minimum(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high)};
}

Range maximum(const Range& a, const Range& b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}

}  // namespace enceladus::analysis
