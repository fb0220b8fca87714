#include "codegen/common/bit_expressions.h"

#include <bit>

namespace enceladus::codegen {
namespace {

// Bits `from` to `from + count` of the index, moved so that the first lands on `base`.
std::string moved_bits(const std::string& index, int from, int count, int64_t base, bool is_top) {
  int to = std::countr_zero(static_cast<uint64_t>(base));
  std::string text = index;
  std::string mask = std::to_string((int64_t{1} << count) - 1);
  if (from > 0) text = "(" + text + " >> " + std::to_string(from) + ")";
  if (!is_top) text = "(" + text + " & " + mask + ")";
  if (to > 0) text = "(" + text + " << " + std::to_string(to) + ")";
  return text;
}

}  // namespace

int64_t bits_of(std::span<const int64_t> bases) {
  int64_t bits = 0;
  for (int64_t base : bases) bits |= base;
  return bits;
}

bool are_disjoint(std::span<const int64_t> bases) {
  int64_t seen = 0;
  for (int64_t base : bases) {
    if (seen & base) return false;
    seen |= base;
  }
  return true;
}

std::string join_bits(const std::string& a, const std::string& b, bool disjoint) {
  if (a.empty() || b.empty()) return a.empty() && b.empty() ? "0" : a + b;
  return "(" + a + (disjoint ? " | " : " ^ ") + b + ")";
}

std::string bit_map(const std::string& index, std::span<const int64_t> bases) {
  std::string text;
  bool disjoint = are_disjoint(bases);
  size_t count = bases.size();
  for (size_t i = 0; i < count;) {
    if (bases[i] == 0) {
      ++i;
      continue;
    }
    size_t end = i + 1;
    bool single = std::has_single_bit(static_cast<uint64_t>(bases[i]));
    while (single && end < count && bases[end] == bases[end - 1] * 2) ++end;
    std::string term;
    if (single) {
      term =
          moved_bits(index, static_cast<int>(i), static_cast<int>(end - i), bases[i], end == count);
    } else {
      term =
          "((" + index + " >> " + std::to_string(i) + " & 1) * " + std::to_string(bases[i]) + ")";
    }
    text = text.empty() ? term : join_bits(text, term, disjoint);
    i = end;
  }
  return text;
}

bool linear_bases(std::span<const int64_t> map, std::vector<int64_t>& bases) {
  bases.clear();
  if (map.empty() || map[0] != 0 || !std::has_single_bit(map.size())) return false;
  for (size_t bit = 1; bit < map.size(); bit <<= 1) bases.push_back(map[bit]);
  for (size_t i = 1; i < map.size(); ++i) {
    size_t low = i & (~i + 1);
    if (map[i] != (map[i ^ low] ^ map[low])) return false;
  }
  return true;
}

}  // namespace enceladus::codegen
