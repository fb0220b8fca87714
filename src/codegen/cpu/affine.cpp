#include "codegen/cpu/affine.h"

#include <algorithm>

namespace enceladus::cpu {

bool Affine::is_contiguous() const {
  for (size_t lane = 0; lane < pattern.size(); ++lane)
    if (pattern[lane] != static_cast<int64_t>(lane)) return false;
  return !pattern.empty();
}

int64_t Affine::smallest_pattern() const {
  return pattern.empty() ? 0 : *std::min_element(pattern.begin(), pattern.end());
}

int64_t Affine::largest_pattern() const {
  return pattern.empty() ? 0 : *std::max_element(pattern.begin(), pattern.end());
}

void Affine::scale(int64_t factor) {
  step *= factor;
  constant *= factor;
  for (int64_t& value : pattern) value *= factor;
  if (factor == 0) pattern.clear();
}

void Affine::add_pattern(const Affine& other) {
  if (other.pattern.empty()) return;
  pattern.resize(other.pattern.size(), 0);
  bool is_zero = true;
  for (size_t lane = 0; lane < pattern.size(); ++lane) {
    pattern[lane] += other.pattern[lane];
    is_zero = is_zero && pattern[lane] == 0;
  }
  if (is_zero) pattern.clear();
}

}  // namespace enceladus::cpu
